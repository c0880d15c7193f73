"""Mask mode: low-rank maps that turn mask rows of the base model into drafts.

The maps act at mask rows only (gated LoRA, arXiv 2507.11851); every other row is the
base model's own, so its text and its cache stay exact. A mask at offset o after a known
token guesses the token o places on. The token at offset 1 is the base's own by the time
it matters, so blocks begin at offset 2, and a small head takes each guess from left to
right knowing the tokens before it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as functional
from safetensors import safe_open
from torch import Tensor

from niello.infill.errors import ModelError

from .draft import Draft, guessed
from .kernels import Kernel, Linear
from .tensorfile import check_safetensors

FIRST = 2
"""The offset at which a block begins."""

_N_LAYERS = 21
"""Layers that are changed: maps above take an eighth of the time and help nothing."""

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
        """Take mask vectors ``(n_offsets, width)`` and the maps of the first layers.

        The vector of offset 1 is never used.
        """
        self.n_most = len(embedding) - FIRST + 1
        self._embedding = embedding
        self._layers = layers

    def embed(self, offsets: Tensor) -> Tensor:
        """Return ``(n_masks, width)`` input vectors."""
        return self._embedding[offsets - 1]

    def add(self, layer: int, name: str, result: Tensor, rows: Tensor) -> None:
        """Add to a map's ``result`` for these ``rows``, in place."""
        if layer >= len(self._layers):
            return
        narrow, wide = getattr(self._layers[layer], name)
        result.addmm_(torch.mm(rows, narrow), wide)


class Sampler(NamedTuple):
    """Chooses the tokens of a block from left to right."""

    down: Linear  # from 3 width to inner: reads a mask, the token and state before it
    up: Linear  # from inner to width
    vocabulary: Tensor  # (n_tokens,) int64: the frequent tokens of code
    head: Linear  # from width to that vocabulary

    def guess(
        self,
        blocks: Sequence[Tensor],
        known: Sequence[int],
        embedding: Tensor,
        sure: float,
    ) -> list[Draft]:
        """Return tokens for blocks of normalised masks ``(n_masks, width)``.

        ``known`` are the tokens in front of the blocks, ``embedding`` is the base's.
        The first guess of a block with a probability below ``sure`` and all after it
        are left out.
        """
        token_ids: list[list[int]] = [[] for _ in blocks]
        probabilities: list[list[float]] = [[] for _ in blocks]
        before, states = list(known), torch.zeros(len(blocks), embedding.shape[1])
        for place in range(max(map(len, blocks))):
            going = [
                n
                for n, block in enumerate(blocks)
                if len(token_ids[n]) == place < len(block)
            ]
            if not going:
                break
            masks = torch.stack([blocks[n][place] for n in going])
            ahead = embedding[[before[n] for n in going]].float()
            seen = torch.cat([masks, _unit(ahead), _unit(states[going])], 1)
            refined = masks + self.up(functional.silu(self.down(seen)))
            states[going] = refined
            chances = self.head(refined).softmax(1)
            for n, chance, best in zip(going, *chances.max(1), strict=True):
                if chance >= sure:
                    before[n] = int(self.vocabulary[best])
                    token_ids[n].append(before[n])
                    probabilities[n].append(float(chance))
        return list(map(guessed, token_ids, probabilities))


def fits(path: Path, adapter_digest: str) -> bool:
    """Return whether a file was trained on the fill adapter of this digest."""
    check_safetensors(path)
    with safe_open(path, framework="pt") as file:
        return (file.metadata() or {}).get("adapter_sha256") == adapter_digest


def load_mask_mode(
    path: Path, adapter_digest: str, n_layers: int, head: Tensor, kernel: Kernel
) -> tuple[LowRankMasks, Sampler]:
    """Read a mask mode and check that it was trained on this fill adapter.

    ``head`` is the base's map to its vocabulary, ``(vocabulary, width)``.
    """
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
            for number in range(min(n_layers, _N_LAYERS))
        ]
        vocabulary = read("draft_vocabulary").long()
        sampler = Sampler(
            kernel.pack(read("sampler.down")),
            kernel.pack(read("sampler.up")),
            vocabulary,
            kernel.pack(head[vocabulary]),
        )
        return LowRankMasks(read("mask_embedding").float(), layers), sampler


def _unit(rows: Tensor) -> Tensor:
    return functional.rms_norm(rows, rows.shape[1:], eps=1e-6)
