"""The encoder of T5, which gives known text the vectors that ELF was trained on.

Names are those of the published t5-small, formulas those of arXiv 1910.10683.
"""

import math
from pathlib import Path

import torch
import torch.nn.functional as functional
from torch import Tensor

from niello.engine.load import load_config

from .decoder import rms_norm
from .weights import Weights


class T5Encoder:
    """Tokens to vectors; every token sees every other."""

    def __init__(self, folder: Path, device: torch.device) -> None:
        """Read ``folder`` with its model.safetensors and config.json."""
        config = load_config(folder)
        self._weights = Weights(folder, device)
        self.width = int(config["d_model"])
        self._n_layers = int(config["num_layers"])
        self._n_heads = int(config["num_heads"])
        self._eps = float(config.get("layer_norm_epsilon", 1e-6))
        self._far = int(config.get("relative_attention_max_distance", 128))

    @torch.inference_mode()
    def __call__(self, token_ids: Tensor, positions: Tensor) -> Tensor:
        """Return ``(time, width)``; positions ``(time,)`` may leave gaps."""
        hidden = self._weights("shared.weight")[token_ids].float()
        bias = self._bias(positions)
        for number in range(self._n_layers):
            front = f"encoder.block.{number}.layer."
            rows = self._norm(f"{front}0.layer_norm", hidden)
            hidden = hidden + self._attend(f"{front}0.SelfAttention.", rows, bias)
            rows = self._norm(f"{front}1.layer_norm", hidden)
            inner = self._map(f"{front}1.DenseReluDense.wi", rows).relu()
            hidden = hidden + self._map(f"{front}1.DenseReluDense.wo", inner)
        return self._norm("encoder.final_layer_norm", hidden)

    def _attend(self, front: str, rows: Tensor, bias: Tensor) -> Tensor:
        queries, keys, values = (
            self._map(front + name, rows).view(len(rows), self._n_heads, -1)
            for name in ("q", "k", "v")
        )
        # T5 does not scale; its queries were drawn small instead.
        scores = torch.einsum("qhd,khd->hqk", queries, keys) + bias
        mixed = torch.einsum("hqk,khd->qhd", scores.softmax(-1), values)
        return self._map(f"{front}o", mixed.flatten(1))

    def _bias(self, positions: Tensor) -> Tensor:
        """Return what is added to the scores, ``(heads, time, time)``, by distance.

        Half the buckets for each direction: one a distance at first, then ever wider.
        """
        table = self._weights(
            "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        ).float()
        distance = positions[None] - positions[:, None]
        half = len(table) // 2
        near = half // 2
        size = distance.abs()
        wide = (size.float().clamp(min=1) / near).log() / math.log(self._far / near)
        far = (near + (wide * (half - near)).long()).clamp(max=half - 1)
        bucket = torch.where(size < near, size, far) + half * (distance > 0)
        return table[bucket].permute(2, 0, 1)

    def _norm(self, name: str, rows: Tensor) -> Tensor:
        return rms_norm(self._weights(f"{name}.weight"), self._eps)(rows)

    def _map(self, name: str, rows: Tensor) -> Tensor:
        return functional.linear(rows, self._weights(f"{name}.weight").float())
