"""Mask mode: low-rank maps that turn mask rows of the base model into drafts.

The maps act at mask rows only (gated LoRA, arXiv 2507.11851); every other row is the
base model's own, so its text and its cache stay exact. A mask at offset o after a known
token guesses the token o places on; the first is known by then, from the base itself.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import safe_open
from torch import Tensor

from niello.infill.errors import ModelError

from .tensorfile import check_safetensors

_MAPS = ("attn_qkv", "attn_out", "ffn_gate_up", "ffn_down")


class Maps(NamedTuple):
    """The low-rank maps of one layer: transposed A and B of each."""

    attn_qkv: tuple[Tensor, Tensor]
    attn_out: tuple[Tensor, Tensor]
    ffn_gate_up: tuple[Tensor, Tensor]
    ffn_down: tuple[Tensor, Tensor]


class LowRankMasks:
    """Implements `MaskMode` from a file of our own training."""

    def __init__(self, embedding: Tensor, layers: Sequence[Maps]) -> None:
        """Take mask vectors ``(n_offsets, width)`` and the maps of all layers."""
        self.n_masks = len(embedding)
        self._embedding = embedding
        self._layers = layers

    def embed(self, offsets: Tensor) -> Tensor:
        """Return ``(n_masks, width)`` input vectors."""
        return self._embedding[offsets - 1]

    def qkv(self, layer: int, rows: Tensor) -> Tensor:
        """Return what is added to the stacked query, key, value map's result."""
        return _through(self._layers[layer].attn_qkv, rows)

    def attn_out(self, layer: int, rows: Tensor) -> Tensor:
        """Return what is added to the output map's result."""
        return _through(self._layers[layer].attn_out, rows)

    def gate_up(self, layer: int, rows: Tensor) -> Tensor:
        """Return what is added to the stacked gate and up map's result."""
        return _through(self._layers[layer].ffn_gate_up, rows)

    def down(self, layer: int, rows: Tensor) -> Tensor:
        """Return what is added to the down map's result."""
        return _through(self._layers[layer].ffn_down, rows)


class MaskWeights(NamedTuple):
    """A mask mode, and the tokens its drafts are chosen from."""

    masks: LowRankMasks
    vocabulary: Tensor  # (n_tokens,) int64: the frequent tokens of code


def load_mask_mode(path: Path, adapter_digest: str, n_layers: int) -> MaskWeights:
    """Read a mask mode and check that it was trained on this fill adapter."""
    check_safetensors(path)
    with safe_open(path, framework="pt") as file:
        made_for = (file.metadata() or {}).get("adapter_sha256")
        if made_for != adapter_digest:
            raise ModelError(
                f"{path.name} belongs to the fill adapter {made_for}, and the model was"
                f" made with {adapter_digest}; reinstall Niello, then: niello models"
                " pull default"
            )
        read = file.get_tensor
        layers = [
            Maps(
                *(
                    (
                        read(f"layers.{number}.{name}.lora_A").float().t().contiguous(),
                        read(f"layers.{number}.{name}.lora_B").float().t().contiguous(),
                    )
                    for name in _MAPS
                )
            )
            for number in range(n_layers)
        ]
        masks = LowRankMasks(read("mask_embedding").float(), layers)
        return MaskWeights(masks, read("draft_vocabulary").long())


def _through(maps: tuple[Tensor, Tensor], rows: Tensor) -> Tensor:
    narrow, wide = maps
    return torch.mm(torch.mm(rows, narrow), wide)
