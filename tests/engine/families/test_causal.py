"""Autoregressive bases: reference logits, and a look-up draft that changes no text."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from family_checks import by_name, check_infill
from tiny_families import (
    CPU,
    N_PLAIN,
    SPECIAL,
    TINY,
    causal,
    load_styled,
    logits_of,
    scramble,
    some_tokens,
    write_family,
    write_tokenizer,
)

from niello.engine.families.decoding import Decoding
from niello.engine.families.open import is_family, open_family
from niello.engine.families.table import find_family
from niello.infill.canvas import Canvas, Draws, Fill, Filler, never
from niello.infill.context import Context

STARCODER2 = transformers.Starcoder2Config
GEMMA = transformers.GemmaConfig


@pytest.mark.parametrize("base", [STARCODER2, GEMMA])
def test_logits_equal_the_reference(base: Any, tmp_path: Path) -> None:
    reference = transformers.AutoModelForCausalLM.from_config(base(**TINY))
    scramble(reference, spread=0.2).save_pretrained(tmp_path)
    family = find_family({"model_type": base.model_type}, "")
    token_ids = some_tokens()
    with torch.no_grad():
        expected = reference(token_ids[None]).logits[0]
    ours = logits_of(load_styled(tmp_path, family), token_ids, causal(13))
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=0)


def test_a_linear_rope_equals_the_reference(tmp_path: Path) -> None:
    rope = {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e5}
    config = transformers.LlamaConfig(**TINY, rope_parameters=rope)
    reference = transformers.AutoModelForCausalLM.from_config(config)
    scramble(reference, spread=0.2).save_pretrained(tmp_path)
    token_ids = some_tokens()
    with torch.no_grad():
        expected = reference(token_ids[None]).logits[0]
    family = by_name("deepseek-coder")
    ours = logits_of(load_styled(tmp_path, family), token_ids, causal(13))
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=0)


BASES = {
    "qwen2": ("Qwen2.5-Coder-0.5B", transformers.Qwen2Config, "qwen2"),
    "starcoder2": ("starcoder2-3b", STARCODER2, "starcoder2"),
    "codegemma": ("codegemma-2b", GEMMA, "gemma"),
    "seed-coder": ("Seed-Coder-8B-Base", transformers.LlamaConfig, "llama"),
    "deepseek-coder": ("deepseek-coder-1.3b-base", transformers.LlamaConfig, "llama"),
}


def written(name: str, tmp_path: Path) -> Path:
    title, base, model_type = BASES[name]
    folder = write_family(tmp_path / title, model_type, base=base)
    order = by_name(name).fim
    assert order is not None
    controls = [part for part in order.parts if part not in ("prefix", "suffix")]
    special = {text: N_PLAIN + 3 + n for n, text in enumerate(controls)}
    plain = {text: n for text, n in SPECIAL.items() if n < N_PLAIN + 3}
    write_tokenizer(folder, {**plain, **special}, N_PLAIN)
    return folder


@pytest.mark.parametrize("name", BASES)
def test_the_published_format_infills(name: str, tmp_path: Path) -> None:
    check_infill(written(name, tmp_path))


def filled(filler: Filler) -> Fill:
    context = Context("a = 1\nb = 2\na = 1\nb = ", "\n")
    canvas = Canvas(context, "", 24, lambda text: None)
    return filler.fill([canvas], Draws(), never)[0][0]


def test_the_draft_changes_passes_and_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written("qwen2", tmp_path)
    drafted = filled(open_family(folder, Decoding(), CPU))
    monkeypatch.setattr("niello.engine.families.causal._N_DRAFTED", 0)
    plain = filled(open_family(folder, Decoding(), CPU))
    assert drafted.text == plain.text
    assert drafted.forwards <= plain.forwards


def test_a_batch_equals_its_single_canvases(tmp_path: Path) -> None:
    folder = written("qwen2", tmp_path)
    batch = [
        Canvas(Context("k = 1\n" * n + "y = ", "\n"), "", 5 + 3 * n, lambda text: None)
        for n in range(4)
    ]
    together = open_family(folder, Decoding(), CPU).fill(batch, Draws(), never)
    alone = [
        open_family(folder, Decoding(), CPU).fill([one], Draws(), never)[0]
        for one in batch
    ]
    assert [f[0].text for f in together] == [f[0].text for f in alone]


def test_a_model_converted_for_the_default_way_is_not_taken(tmp_path: Path) -> None:
    from tiny_families import set_config

    folder = written("qwen2", tmp_path)
    assert is_family(folder)
    set_config(folder, niello={"format": 1})
    assert not is_family(folder)
