import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from tiny_model import LAYERS, SPECIAL, TOKENS, TinyModel, make_tiny_model
from tokenizers import Tokenizer

from niello.engine.convert import convert
from niello.engine.digest import Digests, file_digest, read_sums
from niello.infill.errors import ModelError

DIGESTS = Digests("source", "adapter", 1)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    return make_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def folder(tiny: TinyModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("converted")
    convert(source(tiny), adapter(tiny), folder, DIGESTS, lambda done, total: None)
    return folder


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def source(tiny: TinyModel) -> Path:
    return tiny.adapters.parent / tiny.known.file


def adapter(tiny: TinyModel) -> Path:
    return tiny.adapters / tiny.known.adapter


def test_the_adapter_is_added_in_float32_and_rounded_once(
    tiny: TinyModel, folder: Path
) -> None:
    with safe_open(folder / "model.safetensors", "pt") as file:
        for name, base in tiny.weights.items():
            expected = torch.from_numpy(base)
            if name in tiny.delta:
                expected = expected + torch.from_numpy(tiny.delta[name])
            found = file.get_tensor(name)
            assert torch.equal(found, expected.to(found.dtype)), name


def test_maps_are_bfloat16_and_norms_and_biases_float32(
    tiny: TinyModel, folder: Path
) -> None:
    with safe_open(folder / "model.safetensors", "pt") as file:
        assert set(file.keys()) == set(tiny.weights)
        for name in tiny.weights:
            tensor = file.get_tensor(name)
            wanted = torch.bfloat16 if tensor.dim() > 1 else torch.float32
            assert tensor.dtype == wanted, name


def test_the_config_holds_the_facts_of_the_architecture(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    assert config["model_type"] == "qwen2"
    assert config["num_hidden_layers"] == LAYERS
    assert config["vocab_size"] == len(TOKENS)
    assert config["tie_word_embeddings"] is False
    assert config["attention_bias"] is True
    assert config["niello"] == {
        "source_digest": "source",
        "adapter_digest": "adapter",
        "format": 1,
    }


def test_the_list_of_digests_is_true(folder: Path) -> None:
    sums = read_sums(folder)
    assert set(sums) | {"SHA256SUMS"} == {path.name for path in folder.iterdir()}
    assert all(file_digest(folder / name) == digest for name, digest in sums.items())


def test_merges_are_applied(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("return").tokens == ["return"]
    assert tokenizer.encode("    def").tokens == ["ĠĠ", "Ġ", "Ġ", "def"]


def test_special_tokens_are_known_by_name(folder: Path, tokenizer: Tokenizer) -> None:
    special = json.loads((folder / "config.json").read_text())["special_tokens"]
    assert list(special) == SPECIAL
    for text, token_id in special.items():
        assert tokenizer.token_to_id(text) == token_id


@given(st.lists(st.sampled_from([*SPECIAL, "[PAD]", "é", "e\u0301", "\r\n", " x "])))
def test_user_text_never_gives_a_special_token_and_comes_back_whole(
    tokenizer: Tokenizer, pieces: list[str]
) -> None:
    text = "".join(pieces)
    ids = tokenizer.encode(text).ids
    assert all(token_id < len(TOKENS) - len(SPECIAL) - 1 for token_id in ids)
    assert tokenizer.decode(ids, skip_special_tokens=False) == text


def test_progress_ends_at_the_total(tiny: TinyModel, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    convert(
        source(tiny),
        adapter(tiny),
        tmp_path,
        DIGESTS,
        lambda done, total: calls.append((done, total)),
    )
    assert calls[-1][0] == calls[-1][1]
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_a_file_that_is_no_gguf_is_refused(tiny: TinyModel, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"not a model at all")
    with pytest.raises(ModelError, match="no readable GGUF"):
        convert(wrong, adapter(tiny), tmp_path, DIGESTS, lambda done, total: None)
