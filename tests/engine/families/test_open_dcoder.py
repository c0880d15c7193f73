"""Open-dCoder: Qwen2's own class and names, seen whole, with Dream's shift."""

from pathlib import Path

from family_checks import by_name, check_infill
from tiny_families import write_family

from niello.engine.families.table import find_family


def test_it_is_known_by_its_name_alone(tmp_path: Path) -> None:
    config = {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"]}
    found = find_family(config, "fredzzp--open-dcoder-0.5B")
    assert found == by_name("open-dcoder")


def test_the_published_format_infills(tmp_path: Path) -> None:
    check_infill(write_family(tmp_path / "open-dcoder-0.5B", "qwen2"))
