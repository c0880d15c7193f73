"""Checkpoints that cannot be read say so plainly."""

import json
from pathlib import Path

import pytest
from tiny_families import CPU, set_config, write_family

from niello.engine.families.open import is_family, open_family
from niello.infill.errors import ModelError


def test_a_family_with_unknown_facts_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "clover_moe"}))
    with pytest.raises(ModelError, match="cannot be found in public"):
        open_family(tmp_path, None, CPU)


def test_an_unknown_model_type_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    assert not is_family(tmp_path)
    with pytest.raises(ModelError, match="known are llada"):
        open_family(tmp_path, None, CPU)


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    folder = write_family(tmp_path / "m", "a2d-qwen2")
    set_config(folder, num_hidden_layers=5)
    with pytest.raises(ModelError, match=r"no tensor model\.layers\.2"):
        open_family(folder, None, CPU)


def test_an_unsupported_rope_is_refused(tmp_path: Path) -> None:
    folder = write_family(tmp_path / "m", "a2d-qwen2")
    set_config(folder, rope_parameters={"rope_type": "yarn", "rope_theta": 1e4})
    with pytest.raises(ModelError, match="yarn"):
        open_family(folder, None, CPU)


def test_pickled_weights_are_not_read(tmp_path: Path) -> None:
    folder = write_family(tmp_path / "m", "a2d-qwen2")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="safetensors"):
        open_family(folder, None, CPU)
