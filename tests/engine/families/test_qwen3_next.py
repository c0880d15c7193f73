"""Qwen3-Next: gated delta rule and gated attention by turns, with shared experts."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from family_checks import by_name, check_infill
from tiny_families import (
    CPU,
    TINY,
    causal,
    load_styled,
    logits_of,
    scramble,
    some_tokens,
    write_family,
)

from niello.engine.families.decoder import Rows
from niello.engine.families.decoding import Decoding
from niello.engine.families.open import open_family
from niello.infill.canvas import Canvas, Draws, never
from niello.infill.context import Context

MORE: dict[str, Any] = {
    "num_hidden_layers": 3,
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 6,
    "head_dim": 8,
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    config = transformers.Qwen3NextConfig(**{**TINY, **MORE})
    model = transformers.AutoModelForCausalLM.from_config(config)
    folder = tmp_path_factory.mktemp("next")
    scramble(model, spread=0.2).save_pretrained(folder)
    return model, folder


def test_logits_equal_the_reference(reference: tuple[Any, Path]) -> None:
    model, folder = reference
    token_ids = some_tokens(21)
    with torch.no_grad():
        expected = model(token_ids[None]).logits[0]
    ours = logits_of(load_styled(folder, by_name("qwen3-next")), token_ids, causal(21))
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=0)


def test_a_kept_state_goes_on_where_the_text_was_kept(
    reference: tuple[Any, Path],
) -> None:
    _, folder = reference
    model = load_styled(folder, by_name("qwen3-next"))
    token_ids = some_tokens(12)
    expected = logits_of(model, token_ids, causal(12))
    cache = model.new_cache()
    first = Rows(token_ids[:9], torch.arange(9), cache, causal(9))
    model.forward([first])
    cache.keep(token_ids[:5].tolist())  # the last four rows were a draft, say
    rest = Rows(token_ids[5:], torch.arange(5, 12), cache, causal(7))
    ours = model.logits(model.forward([rest]))
    torch.testing.assert_close(ours, expected[5:], atol=1e-4, rtol=0)
    cache.truncate(3)
    assert cache.token_ids == []


def test_the_published_format_infills(tmp_path: Path) -> None:
    folder = write_family(
        tmp_path / "Qwen3-Next",
        "qwen3_next",
        base=transformers.Qwen3NextConfig,
        more=MORE,
    )
    first = check_infill(folder)
    filler = open_family(folder, Decoding(), CPU)
    context = Context("def f(a):\n    return ", "\n\nprint(f(1))\n")
    canvas = Canvas(context, "", 12, lambda text: None)
    for _ in range(2):
        assert filler.fill([canvas], Draws(), never)[0][0].text == first.text
