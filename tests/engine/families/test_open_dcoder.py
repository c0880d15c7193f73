"""Open-dCoder: Qwen2's own class and names, seen whole, with Dream's shift."""

from pathlib import Path
from typing import Any

import pytest
from family_checks import by_name, check_infill, check_sampler, sampler_cases
from tiny_families import write_family

from niello.engine.families.decoding import Decoding
from niello.engine.families.table import find_family


def test_it_is_known_by_its_name_alone(tmp_path: Path) -> None:
    config = {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"]}
    found = find_family(config, "fredzzp--open-dcoder-0.5B")
    assert found == by_name("open-dcoder")


def test_the_published_format_infills(tmp_path: Path) -> None:
    check_infill(write_family(tmp_path / "open-dcoder-0.5B", "qwen2"))


RULES = {
    "p2": "p2",
    "maskgit_plus": "scheduled",
    "topk_margin": "margin",
    "entropy": "entropy",
}


@pytest.mark.parametrize("case", sampler_cases("open-dcoder"), ids=str)
def test_tokens_equal_open_dcoder(case: dict[str, Any], tmp_path: Path) -> None:
    decoding = Decoding(
        length="fixed",
        canvas=case["room"],
        cache=False,
        steps=case["steps"],
        commit=RULES[case["sampler"].partition(" ")[2]],
    )
    check_sampler(case, "open-dcoder", decoding, tmp_path)
