"""Logits equal those that the published reference code gave for the same weights.

Each file of golden/ names its source and commit; weights are not kept but written by a
formula, so a file is a config, tensor shapes, token ids and the logits.
"""

import json
from pathlib import Path

import pytest
import torch
from tiny_families import GOLDEN, load, logits_of, write_checkpoint

from niello.engine.families.decoder import block_causal
from niello.engine.families.table import find_family


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
