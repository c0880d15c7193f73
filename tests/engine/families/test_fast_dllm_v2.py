"""Fast-dLLM v2: a Qwen2.5 in blocks of 32 and sub-blocks of 8, with a shift."""

from pathlib import Path
from typing import Any

import pytest
from family_checks import check_infill, check_sampler, sampler_cases
from tiny_families import write_family

from niello.engine.families.decoding import Decoding


@pytest.mark.parametrize("case", sampler_cases("fast-dllm-v2"), ids=str)
def test_tokens_equal_fast_dllm_v2(case: dict[str, Any], tmp_path: Path) -> None:
    decoding = Decoding(
        length="fixed",
        canvas=case["room"],
        block=case["block"],
        threshold=case["threshold"],
        join=0,
    )
    check_sampler(case, "fast-dllm-v2", decoding, tmp_path)


@pytest.mark.parametrize("length", ["blocks", "fixed"])
def test_the_published_format_infills(length: str, tmp_path: Path) -> None:
    folder = write_family(tmp_path / "Fast_dLLM_v2_1.5B", "Fast_dLLM_Qwen")
    check_infill(folder, Decoding(length=length))
