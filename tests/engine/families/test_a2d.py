"""The MDLM and BD3LM checkpoints of dllm-hub: Qwen2 and Qwen3 made to denoise."""

from pathlib import Path

import pytest
import transformers
from family_checks import by_name, check_infill
from tiny_families import write_family

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
