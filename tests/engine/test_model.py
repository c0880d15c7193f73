"""The transformer against the reference implementation, on random tiny weights."""

from pathlib import Path

import pytest
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from niello.engine.attention import onednn_pays
from niello.engine.cache import KVCache
from niello.engine.kernels import FLOAT32, INT8
from niello.engine.load import load_transformer
from niello.engine.model import Rows, Stopped, Transformer

CONFIG = Qwen2Config(
    vocab_size=320,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=3,
    num_attention_heads=4,
    num_key_value_heads=2,
    rms_norm_eps=1e-6,
    rope_theta=1e6,
    tie_word_embeddings=False,
)


@pytest.fixture(scope="module")
def reference() -> Qwen2ForCausalLM:
    torch.manual_seed(0)
    model = Qwen2ForCausalLM(CONFIG).eval()
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.2)
    return model


@pytest.fixture(scope="module")
def folder(
    reference: Qwen2ForCausalLM, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    reference.save_pretrained(folder, safe_serialization=True)
    return folder


def compute(
    model: Transformer, cache: KVCache, token_ids: torch.Tensor
) -> torch.Tensor:
    start = len(cache.token_ids)
    positions = torch.arange(start, start + len(token_ids))
    hidden = model.forward([Rows(token_ids, positions, cache)])
    cache.keep(token_ids.tolist())
    return model.logits(hidden)


def test_logits_equal_the_reference(reference: Qwen2ForCausalLM, folder: Path) -> None:
    model = load_transformer(folder, FLOAT32)
    token_ids = torch.randint(0, 320, (40,), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = reference(token_ids[None]).logits[0]
    got = compute(model, model.new_cache(), token_ids)
    torch.testing.assert_close(got, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("onednn", [False, True])
@pytest.mark.parametrize(
    "sizes",
    [
        [300],
        [1] * 20 + [280],
        [191, 2, 107],
        [95, 2, 203],
        [64, 64, 64, 64, 44],
        [1535, 1, 3, 80],  # more steps than are added up at once
    ],
)
def test_rows_are_the_same_to_the_last_bit_however_they_are_cut(
    folder: Path, sizes: list[int], onednn: bool
) -> None:
    model = load_transformer(folder, INT8)
    if onednn and not onednn_pays(14, 2, 64):
        pytest.skip("oneDNN is no quicker on this processor, or sums up differently")
    model.onednn = onednn
    token_ids = torch.randint(0, 320, (sum(sizes),))
    whole = compute(model, model.new_cache(), token_ids)
    cache = model.new_cache()
    parts = [compute(model, cache, part) for part in token_ids.split(sizes)]
    assert torch.equal(torch.cat(parts), whole)


def test_rows_are_the_same_to_the_last_bit_on_more_threads(folder: Path) -> None:
    model = load_transformer(folder, INT8)
    token_ids = torch.randint(0, 320, (300,))
    before = torch.get_num_threads()
    computed = []
    for n_threads in (1, 2, 3):
        torch.set_num_threads(n_threads)
        computed.append(compute(model, model.new_cache(), token_ids))
    torch.set_num_threads(before)
    assert torch.equal(computed[0], computed[1])
    assert torch.equal(computed[0], computed[2])


def test_a_batch_equals_its_sequences_alone(folder: Path) -> None:
    model = load_transformer(folder, INT8)
    texts = [torch.randint(0, 320, (n,)) for n in (3, 17, 40, 1)]
    batch = [Rows(t, torch.arange(len(t)), model.new_cache()) for t in texts]
    together = model.logits(model.forward(batch))
    alone = [compute(model, model.new_cache(), text) for text in texts]
    assert torch.equal(together, torch.cat(alone))


def test_a_row_sees_only_what_it_is_shown(folder: Path) -> None:
    model = load_transformer(folder, INT8)
    token_ids = torch.tensor([5, 6, 7, 9])
    visible = torch.tensor(
        [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]]
    ).bool()
    # Two branches after the first token: [6] and [7, 9].
    positions = torch.tensor([0, 1, 1, 2])
    rows = Rows(token_ids, positions, model.new_cache(), visible)
    got = model.logits(model.forward([rows]))
    branch = compute(model, model.new_cache(), torch.tensor([5, 7, 9]))
    assert torch.equal(got[[0, 2, 3]], branch)


def test_rows_that_are_only_read_leave_the_same_keys_and_values(folder: Path) -> None:
    model = load_transformer(folder, INT8)
    token_ids = torch.randint(0, 320, (30,))
    caches = model.new_cache(), model.new_cache()
    read, computed = (Rows(token_ids, torch.arange(30), cache) for cache in caches)
    model.read([read])
    model.forward([computed])
    for cache in caches:
        cache.keep(token_ids.tolist())
    following = torch.tensor([7])
    assert torch.equal(*(compute(model, cache, following) for cache in caches))


def test_a_stopped_pass_keeps_nothing_and_can_be_done_again(folder: Path) -> None:
    model = load_transformer(folder, INT8)
    token_ids = torch.randint(0, 320, (30,))
    cache = model.new_cache()
    flags = iter([False, True])
    with pytest.raises(Stopped):
        model.read([Rows(token_ids, torch.arange(30), cache)], lambda: next(flags))
    assert not cache.token_ids
    again = compute(model, cache, token_ids)
    assert torch.equal(again, compute(model, model.new_cache(), token_ids))


def test_a_tied_head_is_the_embedding(
    reference: Qwen2ForCausalLM, tmp_path: Path
) -> None:
    config = Qwen2Config(**{**CONFIG.to_dict(), "tie_word_embeddings": True})
    tied = Qwen2ForCausalLM(config).eval()
    tied.save_pretrained(tmp_path, safe_serialization=True)
    model = load_transformer(tmp_path, FLOAT32)
    token_ids = torch.arange(12)
    with torch.no_grad():
        expected = tied(token_ids[None]).logits[0]
    got = compute(model, model.new_cache(), token_ids)
    torch.testing.assert_close(got, expected, atol=1e-4, rtol=1e-4)
