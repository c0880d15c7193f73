"""LLaDA 8B and 1.5: GSAI-ML's spelling of a Llama, seen whole, no shift."""

from pathlib import Path
from typing import Any

import pytest
from family_checks import (
    check_infill,
    check_logits,
    check_sampler,
    sampler_cases,
    write_like_golden,
)

from niello.engine.families.decoding import Decoding


def test_logits_equal_the_published_code(tmp_path: Path) -> None:
    check_logits("llada", tmp_path)


@pytest.mark.parametrize("case", sampler_cases("llada"), ids=str)
def test_tokens_equal_llada_and_fast_dllm(case: dict[str, Any], tmp_path: Path) -> None:
    decoding = Decoding(
        length="fixed",
        canvas=case["room"],
        cache=False,
        block=case["block"],
        steps=case.get("steps", 0),
        threshold=case.get("threshold", 0.0),
    )
    check_sampler(case, "llada", decoding, tmp_path)


@pytest.mark.parametrize("length", ["fixed", "search", "nearby", "shrink"])
def test_the_published_format_infills(length: str, tmp_path: Path) -> None:
    folder = write_like_golden("llada", tmp_path / "LLaDA-8B-Base")
    check_infill(folder, Decoding(length=length))
