"""DreamOn: a Dream whose canvas grows by expand tokens and shrinks by end tokens."""

from pathlib import Path
from typing import Any

import pytest
from family_checks import (
    by_name,
    check_infill,
    check_sampler,
    sampler_cases,
    write_like_golden,
)
from tiny_families import SPECIAL

from niello.engine.families.decoding import Decoding
from niello.engine.families.edit import grow_and_shrink
from niello.engine.families.table import find_family

RULES = {
    "maskgit_plus": "scheduled",
    "topk_margin": "margin",
    "entropy": "entropy",
}


@pytest.mark.parametrize("case", sampler_cases("dreamon"), ids=str)
def test_tokens_equal_dreamon(case: dict[str, Any], tmp_path: Path) -> None:
    decoding = Decoding(
        length="expand",
        canvas=case["start"],
        cache=False,
        commit=RULES[case["sampler"].partition(" ")[2]],
    )
    check_sampler(case, "dreamon", decoding, tmp_path)


@pytest.mark.parametrize("length", ["expand", "shrink"])
def test_the_published_format_infills(length: str, tmp_path: Path) -> None:
    folder = write_like_golden(
        "dream",
        tmp_path / "DreamOn-v0-7B",
        expand_token_id=SPECIAL["<|expand|>"],
    )
    check_infill(folder, Decoding(length=length, canvas=4))


def test_a_checkpoint_is_known_by_its_name() -> None:
    config = {"model_type": "Dream"}
    assert find_family(config, "Dream-org--DreamOn-v0-7B") == by_name("dreamon")
    assert find_family(config, "Dream-org--Dream-v0-Base-7B") == by_name("dream")


def test_an_expand_token_becomes_two_masks_and_a_drawn_end_goes() -> None:
    grown = grow_and_shrink([5, 8, 9, 9], [True, True, True, False], 8, 9, 0)
    assert grown.token_ids == [5, 0, 0, 9]
    assert grown.origins == [0, 1, 1, 3]
