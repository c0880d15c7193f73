"""LLaDA 2.x: sigmoid routing in groups, half-turned heads, blocks of 32; 2.1 edits."""

from pathlib import Path
from typing import Any

import pytest
import torch
from family_checks import (
    check_infill,
    check_logits,
    check_sampler,
    formula,
    golden,
    sampler_cases,
    write_like_golden,
)

from niello.engine.families.decoding import Decoding
from niello.engine.families.edit import InDelIds, InDelRule, InDelState, indel_step
from niello.infill.errors import ModelError


def decoding_of(case: dict[str, Any]) -> Decoding:
    return Decoding(
        length="fixed",
        canvas=case["room"],
        block=case["block"],
        threshold=case["threshold"],
        edit_threshold=case["edit_threshold"],
        join=0,
    )


def test_logits_equal_the_published_code(tmp_path: Path) -> None:
    check_logits("llada2", tmp_path)


@pytest.mark.parametrize("case", sampler_cases("llada2"), ids=str)
def test_tokens_equal_llada2(case: dict[str, Any], tmp_path: Path) -> None:
    check_sampler(case, "llada2", decoding_of(case), tmp_path)


@pytest.mark.parametrize("case", sampler_cases("llada21"), ids=str)
def test_edited_tokens_equal_llada21(case: dict[str, Any], tmp_path: Path) -> None:
    check_sampler(case, "llada2.1", decoding_of(case), tmp_path)


@pytest.mark.parametrize("name", ["LLaDA2.0-mini", "LLaDA2.1-mini"])
def test_the_published_format_infills(name: str, tmp_path: Path) -> None:
    check_infill(write_like_golden("llada2", tmp_path / name))


INDEL = golden("indel")


@pytest.mark.parametrize("case", INDEL["cases"], ids=lambda case: str(case["seed"]))
def test_insertions_and_deletions_equal_llada22(case: dict[str, Any]) -> None:
    ids = InDelIds(INDEL["mask"], INDEL["delete"], INDEL["split"])
    rule = InDelRule(ids, case["threshold"], case["edit_threshold"], case["n_post"])
    head = case["head"]
    token_ids = torch.tensor([1, 2, 3][:head] + [ids.mask] * (6 - head))
    fixed = torch.arange(6) < head
    state = InDelState(token_ids, token_ids == ids.mask, fixed)
    for step, expected in enumerate(case["states"]):
        assert not state.finished
        logits = formula((6, INDEL["vocabulary"]), case["seed"] * 100 + step, "")
        state = indel_step(logits / 0.3 * case["scale"], state, rule)
        assert state.token_ids.tolist() == expected
    assert state.finished


def test_llada22_infills_with_the_delete_and_split_tokens_of_its_config(
    tmp_path: Path,
) -> None:
    folder = write_like_golden(
        "llada2", tmp_path / "LLaDA2.2-flash", delete_token_id=262, split_token_id=258
    )
    check_infill(folder)


def test_llada22_without_its_tokens_is_refused(tmp_path: Path) -> None:
    folder = write_like_golden("llada2", tmp_path / "LLaDA2.2-flash")
    with pytest.raises(ModelError, match="delete_token_id"):
        check_infill(folder)
