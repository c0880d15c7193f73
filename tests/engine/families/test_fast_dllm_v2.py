"""Fast-dLLM v2: a Qwen2.5 in blocks of 32 and sub-blocks of 8, with a shift."""

from pathlib import Path

import pytest
from family_checks import check_infill
from tiny_families import write_family

from niello.engine.families.decoding import Decoding


@pytest.mark.parametrize("length", ["blocks", "fixed"])
def test_the_published_format_infills(length: str, tmp_path: Path) -> None:
    folder = write_family(tmp_path / "Fast_dLLM_v2_1.5B", "Fast_dLLM_Qwen")
    check_infill(folder, Decoding(length=length))
