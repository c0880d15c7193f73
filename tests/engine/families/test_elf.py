"""ELF: a flow of vectors; T5's encoder gives known text its own."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from family_checks import (
    check_infill,
    driven,
    formula,
    golden,
    passed,
    write_golden,
)
from tiny_families import CPU, N_PLAIN, SPECIAL, scramble, write_tokenizer

from niello.engine.families.decoding import Decoding, sampling
from niello.engine.families.elf import Elf
from niello.engine.families.open import open_family
from niello.engine.families.t5 import T5Encoder
from niello.infill.canvas import Canvas, Draws, never
from niello.infill.context import Context

ELF = golden("elf")
WIDTH = 16


def write_encoder(folder: Path, vocabulary: int) -> Any:
    config = transformers.T5Config(
        vocab_size=vocabulary,
        d_model=WIDTH,
        d_kv=8,
        d_ff=24,
        num_layers=2,
        num_heads=2,
    )
    model = scramble(transformers.T5EncoderModel(config), spread=0.2)
    model.save_pretrained(folder)
    return model


def written(folder: Path, **facts: object) -> Path:
    write_golden("elf", folder, **facts)
    write_encoder(folder / "encoder", int(str(facts.get("vocab_size", 61))))
    return folder


def test_outputs_equal_the_published_code(tmp_path: Path) -> None:
    elf = Elf(written(tmp_path), CPU)
    current, expected = formula((ELF["rows"], 2 * WIDTH), 5, "").mul(3).chunk(2, -1)
    hidden = passed(elf, elf._embed(current, expected, 0.3, 0.0))
    ours = elf._out(elf._norm_out(hidden))
    torch.testing.assert_close(ours, torch.tensor(ELF["expected"]), atol=1e-4, rtol=0)
    ours = elf._read(passed(elf, elf._embed(current, expected, 1.0, 1.0)))
    torch.testing.assert_close(ours, torch.tensor(ELF["logits"]), atol=1e-4, rtol=0)


@pytest.mark.parametrize("case", ELF["cases"], ids=lambda case: str(case["passes"]))
def test_tokens_equal_the_published_sampler_for_the_same_noise(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = formula((10, WIDTH), 9, "") * 8
    # The vectors of known text are given, so that the denoiser alone is compared.
    monkeypatch.setattr(T5Encoder, "__call__", lambda _, ids, n: known[n] * 0.2)
    elf = Elf(written(tmp_path), CPU, case["passes"])
    fixed = torch.tensor(case["fixed"], dtype=torch.bool)
    how = sampling(0.0, case["seed"], torch.device("cpu"))
    logits = driven(elf, elf.sample(torch.zeros(10, dtype=torch.int64), fixed, how))
    assert logits.argmax(-1).tolist() == case["tokens"]


def test_the_encoder_equals_the_reference(tmp_path: Path) -> None:
    reference = write_encoder(tmp_path, 61)
    token_ids = (torch.arange(200) * 37) % 61
    with torch.no_grad():
        expected = reference(token_ids[None]).last_hidden_state[0]
    ours = T5Encoder(tmp_path, torch.device("cpu"))(token_ids, torch.arange(200))
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=0)


def text_folder(folder: Path) -> Path:
    n_tokens = N_PLAIN + len(SPECIAL)
    written(
        folder,
        vocab_size=n_tokens,
        max_position_embeddings=512,
        eos_token_id=SPECIAL["<|endoftext|>"],
    )
    write_tokenizer(folder, SPECIAL, N_PLAIN)
    return folder


@pytest.mark.parametrize("length", ["", "fixed"])
def test_a_converted_checkpoint_infills(length: str, tmp_path: Path) -> None:
    check_infill(text_folder(tmp_path / "ELF-B-owt"), Decoding(length=length, canvas=9))


def test_prefix_and_suffix_are_seen_and_a_batch_equals_its_canvases(
    tmp_path: Path,
) -> None:
    filler = open_family(text_folder(tmp_path / "ELF-B-owt"), Decoding(steps=4), CPU)
    canvases = [
        Canvas(Context(prefix, suffix), "", 6, lambda text: None)
        for prefix, suffix in (("a = ", ";"), ("b = ", ";"), ("a = ", "()"), ("", ""))
    ]
    together = [fills[0] for fills in filler.fill(canvases, Draws(), never)]
    alone = [filler.fill([one], Draws(), never)[0][0] for one in canvases]
    assert [fill.text for fill in together] == [fill.text for fill in alone]
    assert len({fill.text for fill in together}) > 2
    assert {fill.forwards for fill in together} == {5}


def test_a_stopped_fill_is_empty(tmp_path: Path) -> None:
    filler = open_family(text_folder(tmp_path / "ELF-B-owt"), Decoding(), CPU)
    canvas = Canvas(Context("a = ", ";"), "", 6, lambda text: None)
    ((fill,),) = filler.fill([canvas], Draws(), lambda: True)
    assert (fill.text, fill.reason) == ("", "stopped")
