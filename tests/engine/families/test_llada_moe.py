"""LLaDA-MoE: a mixture of experts with softmax routing, seen whole, no shift."""

from pathlib import Path

from family_checks import check_infill, check_logits, write_like_golden


def test_logits_equal_the_published_code(tmp_path: Path) -> None:
    check_logits("llada-moe", tmp_path)


def test_the_published_format_infills(tmp_path: Path) -> None:
    check_infill(write_like_golden("llada-moe", tmp_path / "LLaDA-MoE-7B-A1B-Base"))
