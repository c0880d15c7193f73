"""Logits equal those that the published reference code gave for the same weights.

Each file of golden/ names its source and commit; weights are not kept but written by a
formula, so a file is a config, tensor shapes, token ids and the logits.
"""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tiny_families import load, logits_of
from torch import Tensor

from niello.engine.families.decoder import block_causal
from niello.engine.families.table import find_family

GOLDEN = Path(__file__).parent / "golden"


def formula(shape: list[int], index: int, name: str) -> Tensor:
    """Values that look random and need no generator."""
    i = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    values = torch.sin(0.37 * i * i + 1.3 * i + index).reshape(shape).float()
    if len(shape) > 1:
        return values * 0.3
    return values * 0.1 if "bias" in name else 1 + 0.2 * values


def write_checkpoint(golden: dict[str, object], folder: Path) -> None:
    shapes = golden["tensors"]
    assert isinstance(shapes, dict)
    tensors = {
        name: formula(shapes[name], index, name)
        for index, name in enumerate(sorted(shapes))
    }
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(golden["config"]), "utf-8")


@pytest.mark.parametrize("name", ["llada", "llada-moe", "llada2", "dream", "sdar"])
def test_logits_equal_the_published_code(name: str, tmp_path: Path) -> None:
    golden = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    write_checkpoint(golden, tmp_path)
    family = find_family(golden["config"], name)
    assert family.name == name
    token_ids = torch.tensor(golden["token_ids"])
    visible = block_causal(len(token_ids), 4) if family.way == "block" else None
    ours = logits_of(load(tmp_path, family.names), token_ids, visible)
    expected = torch.tensor(golden["logits"])
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=0)
