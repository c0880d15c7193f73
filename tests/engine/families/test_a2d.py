"""The MDLM and BD3LM checkpoints of dllm-hub: Qwen2 and Qwen3 made to denoise."""

from pathlib import Path
from typing import Any

import pytest
import transformers
from family_checks import (
    by_name,
    check_infill,
    check_logits,
    check_sampler,
    sampler_cases,
)
from tiny_families import write_family

from niello.engine.families.decoding import Decoding
from niello.engine.families.table import find_family

BASES = {"a2d-qwen2": transformers.Qwen2Config, "a2d-qwen3": transformers.Qwen3Config}


@pytest.mark.parametrize("model_type", BASES)
@pytest.mark.parametrize("kind", ["mdlm", "bd3lm"])
def test_the_published_format_infills(
    model_type: str, kind: str, tmp_path: Path
) -> None:
    folder = tmp_path / f"Qwen-diffusion-{kind}-v0.1"
    check_infill(write_family(folder, model_type, base=BASES[model_type]))


def test_the_way_is_told_by_the_name() -> None:
    config = {"model_type": "a2d-qwen3"}
    assert find_family(config, "x-bd3lm-v0.1") == by_name("bd3lm-a2d")
    assert find_family(config, "x-mdlm-v0.1") == by_name("mdlm-a2d")


def test_logits_equal_dllm(tmp_path: Path) -> None:
    check_logits("mdlm-a2d", tmp_path)


def decoding_of(case: dict[str, Any]) -> Decoding:
    return Decoding(
        length="fixed",
        canvas=case["room"],
        block=case.get("block", 0),
        cache=False,
        steps=case["steps"],
        join=0,
    )


@pytest.mark.parametrize("case", sampler_cases("mdlm-a2d"), ids=str)
def test_tokens_equal_dllm_whole(case: dict[str, Any], tmp_path: Path) -> None:
    check_sampler(case, "mdlm-a2d", decoding_of(case), tmp_path)


@pytest.mark.parametrize("case", sampler_cases("bd3lm-a2d"), ids=str)
def test_tokens_equal_dllm_in_blocks(case: dict[str, Any], tmp_path: Path) -> None:
    check_sampler(case, "bd3lm-a2d", decoding_of(case), tmp_path)
