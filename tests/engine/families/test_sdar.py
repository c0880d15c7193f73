"""SDAR: a Qwen3, or its mixture of experts, in blocks of 4 without a shift."""

from pathlib import Path
from typing import Any

import pytest
import transformers
from family_checks import (
    check_infill,
    check_logits,
    check_sampler,
    sampler_cases,
    write_like_golden,
)
from tiny_families import write_family

from niello.engine.families.decoding import Decoding


def test_logits_equal_the_published_code(tmp_path: Path) -> None:
    check_logits("sdar", tmp_path)


@pytest.mark.parametrize("case", sampler_cases("sdar"), ids=str)
def test_tokens_equal_sdar(case: dict[str, Any], tmp_path: Path) -> None:
    static = case["sampler"].endswith("static")
    decoding = Decoding(
        length="fixed",
        canvas=case["room"],
        block=case["block"],
        threshold=case["threshold"],
        commit="scheduled" if static else "",
        join=0,
    )
    check_sampler(case, "sdar", decoding, tmp_path)


@pytest.mark.parametrize("length", ["blocks", "fixed"])
def test_the_published_format_infills(length: str, tmp_path: Path) -> None:
    folder = write_like_golden("sdar", tmp_path / "SDAR-4B-Chat")
    check_infill(folder, Decoding(length=length))


def test_the_mixture_of_experts_infills(tmp_path: Path) -> None:
    folder = write_family(
        tmp_path / "SDAR-30B-A3B-Chat",
        "sdar_moe",
        base=transformers.Qwen3MoeConfig,
        more={
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 16,
            "norm_topk_prob": True,
        },
    )
    check_infill(folder)
