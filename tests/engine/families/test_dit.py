"""MDLM and BD3-LM: the same DiT, seen whole or in blocks."""

from pathlib import Path
from typing import Any

import pytest
import torch
from family_checks import (
    check_infill,
    check_sampler,
    golden,
    sampler_cases,
    write_golden,
    write_like_golden,
)
from tiny_families import CPU, N_PLAIN, SPECIAL, logits_of, set_config

from niello.engine.families.decoder import block_causal
from niello.engine.families.decoding import Decoding
from niello.engine.families.dit import load_dit
from niello.infill.errors import ModelError


@pytest.mark.parametrize("name", ["mdlm", "bd3lm"])
def test_logits_equal_the_published_code(name: str, tmp_path: Path) -> None:
    model = golden(name)
    token_ids = torch.tensor(model["token_ids"])
    visible = block_causal(len(token_ids), 4) if name == "bd3lm" else None
    ours = logits_of(load_dit(write_golden(name, tmp_path), CPU), token_ids, visible)
    expected = torch.tensor(model["logits"])
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("case", sampler_cases("mdlm"), ids=str)
def test_tokens_equal_mdlm_for_the_same_seed(
    case: dict[str, Any], tmp_path: Path
) -> None:
    decoding = Decoding(
        length="fixed",
        canvas=case["room"],
        cache=False,
        steps=case["steps"],
        commit="ancestral",
    )
    check_sampler(case, "mdlm", decoding, tmp_path)


@pytest.mark.parametrize("case", sampler_cases("bd3lm"), ids=str)
def test_tokens_equal_bd3lm_for_the_same_seed(
    case: dict[str, Any], tmp_path: Path
) -> None:
    decoding = Decoding(
        length="fixed",
        canvas=case["room"],
        block=case["block"],
        commit="random",
        join=0,
    )
    check_sampler({**case, "temperature": 1.0}, "bd3lm", decoding, tmp_path)


@pytest.mark.parametrize("name", ["mdlm", "bd3lm"])
def test_the_published_format_infills(name: str, tmp_path: Path) -> None:
    n_tokens = N_PLAIN + len(SPECIAL)
    folder = write_like_golden(
        name, tmp_path / f"{name}-owt", vocab_size=n_tokens, model_length=1024
    )
    check_infill(folder)


def test_a_model_told_the_noise_level_is_refused(tmp_path: Path) -> None:
    folder = write_golden("mdlm", tmp_path)
    set_config(folder, time_conditioning=True)
    with pytest.raises(ModelError, match="noise level"):
        load_dit(folder, CPU)
