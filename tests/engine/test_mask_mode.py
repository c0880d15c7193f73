"""Drafting with masks, on random weights: quick or slow, the text stays the same."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from niello.engine.engine import Engine
from niello.engine.filling import Limits
from niello.engine.kernels import INT8
from niello.engine.load import load_config
from niello.engine.mask_mode import load_mask_mode
from niello.engine.pace import Cost, Pace
from niello.infill.canvas import Canvas, Draws
from niello.infill.context import Context
from niello.infill.errors import ModelError

CONTEXT = Context("def f(a):\n    return ", "\n\nprint(f(1))\n")
N_MASKS = 4


def write_masks(path: Path, config: dict[str, int], adapter: str) -> Path:
    width, ffn = config["hidden_size"], config["intermediate_size"]
    stacked = (
        width
        + 2 * width * config["num_key_value_heads"] // config["num_attention_heads"]
    )
    shapes = {
        "attn_qkv": (width, stacked),
        "attn_out": (width, width),
        "ffn_gate_up": (width, 2 * ffn),
        "ffn_down": (ffn, width),
    }
    tensors = {
        "mask_embedding": torch.randn(N_MASKS, width),
        "draft_vocabulary": torch.arange(0, config["vocab_size"], 2).int(),
        "sampler.down": torch.randn(8, 3 * width),
        "sampler.up": torch.randn(width, 8),
    }
    for layer in range(config["num_hidden_layers"]):
        for name, (n_in, n_out) in shapes.items():
            tensors[f"layers.{layer}.{name}.lora_A"] = torch.randn(2, n_in)
            tensors[f"layers.{layer}.{name}.lora_B"] = torch.randn(n_out, 2)
    save_file(tensors, path, {"adapter_sha256": adapter})
    return path


@pytest.fixture
def engine(tiny_folder: Path, tmp_path: Path) -> Engine:
    folder = tiny_folder
    torch.manual_seed(0)
    config = load_config(folder)
    path = write_masks(tmp_path / "masks.safetensors", config, "a")
    engine = Engine.load(folder, kernel=INT8)
    head = torch.randn(config["vocab_size"], config["hidden_size"]) * 0.01
    n_layers = config["num_hidden_layers"]
    engine.model.add_masks(*load_mask_mode(path, "a", n_layers, head, INT8))
    return engine


@pytest.mark.parametrize("given", ["", "        ", "ret"])
@pytest.mark.parametrize("n_masks", [1, 2, 3])
def test_guesses_of_masks_do_not_change_the_text(
    engine: Engine, n_masks: int, given: str
) -> None:
    canvas = Canvas(CONTEXT, given, 40, lambda _: None)
    engine.limits = Limits(n_draft=0)
    ((plain,),) = engine.fill([canvas], Draws())
    engine.clear_caches()
    engine.limits = Limits(n_draft=8, pace=Pace(Cost(1.0, 0.0), n_masks))
    ((drafted,),) = engine.fill([canvas], Draws())
    assert drafted.text == plain.text
    assert drafted.n_fed > plain.n_fed  # masks were fed


def test_unchecked_guesses_are_committed_when_they_are_sure(engine: Engine) -> None:
    canvas = Canvas(CONTEXT, "", 40, lambda _: None)
    pace = Pace(Cost(1.0, 0.0), 3)
    engine.limits = Limits(n_draft=8, pace=pace, sure=1e-9)
    ((eager,),) = engine.fill([canvas], Draws())
    engine.limits = Limits(n_draft=8, pace=pace, sure=1.0)
    ((wary,),) = engine.fill([canvas], Draws())
    assert eager.forwards < eager.n_tokens  # several tokens a pass
    assert wary.forwards >= wary.n_tokens  # one token a pass: none was that sure


def test_masks_of_another_adapter_are_refused(
    tiny_folder: Path, tmp_path: Path
) -> None:
    config = load_config(tiny_folder)
    path = write_masks(tmp_path / "masks.safetensors", config, "a")
    with pytest.raises(ModelError, match="belongs to the fill adapter a"):
        load_mask_mode(path, "b", config["num_hidden_layers"], torch.empty(0), INT8)


def test_blocks_guessed_together_are_guessed_as_alone(engine: Engine) -> None:
    width = engine.model.facts.width
    blocks = [torch.randn(n, width) for n in (3, 1, 2)]
    known = [5, 6, 7]
    together = engine.model.guess(blocks, known)
    alone = [
        engine.model.guess([block], [token])[0]
        for block, token in zip(blocks, known, strict=True)
    ]
    assert together == alone
    assert [len(draft.token_ids) for draft in together] == [3, 1, 2]


def test_a_block_ends_before_a_guess_that_is_not_sure(engine: Engine) -> None:
    blocks = [torch.randn(3, engine.model.facts.width) for _ in range(2)]
    assert all(not draft.token_ids for draft in engine.model.guess(blocks, [5, 6], 1.0))
