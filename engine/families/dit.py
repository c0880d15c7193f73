"""The DiT of MDLM and BD3-LM: a transformer whose norms and gates depend on the noise.

The published models are not told the noise level, so what depends on it is constant and
computed once here. Names and formulas are those of github.com/kuleshov-group/bd3lms.
"""

from pathlib import Path

import torch
import torch.nn.functional as functional
from torch import Tensor

from niello.engine.kernels import Linear
from niello.engine.load import load_config
from niello.infill.errors import ModelError

from .decoder import Attention, Decoder, FeedForward, Layer, Norm, rotary_frequencies
from .load import Place
from .weights import Pack, Weights, affine

_FRONT = "backbone."
_N_FREQUENCIES = 256  # of the noise level's embedding; no config states it


def load_dit(folder: Path, place: Place) -> Decoder:
    """Read a DiT checkpoint that is not conditioned on the noise level."""
    config = load_config(folder)
    if config.get("time_conditioning"):
        raise ModelError(f"{folder}: a DiT told the noise level is not supported")
    weights = Weights(folder, place.device)
    embedding = weights(f"{_FRONT}vocab_embed.embedding")
    builder = _Builder(weights, place.pack, int(config["n_heads"]))
    last = f"{_FRONT}output_layer."
    shift, scale = builder.modulation(last).chunk(2)
    head = place.pack(weights(f"{last}linear.weight"))
    bias = weights(f"{last}linear.bias").float()
    return Decoder(
        embedding,
        [builder.layer(number) for number in range(int(config["n_blocks"]))],
        builder.norm(f"{last}norm_final", shift, scale),
        lambda rows: head(rows) + bias,
    )


class _Builder:
    """Puts the layers of one checkpoint together."""

    def __init__(self, weights: Weights, pack: Pack, n_heads: int) -> None:
        self._weights, self._pack, self._n_heads = weights, pack, n_heads
        self._condition = self._noise_free()

    def layer(self, number: int) -> Layer:
        front = f"{_FRONT}blocks.{number}."
        shift, scale, gate, shift_ffn, scale_ffn, gate_ffn = self.modulation(
            front
        ).chunk(6)
        return Layer(
            self.norm(f"{front}norm1", shift, scale),
            self._attention(front, gate),
            self.norm(f"{front}norm2", shift_ffn, scale_ffn),
            self._feed_forward(front, gate_ffn),
        )

    def modulation(self, front: str) -> Tensor:
        """Return shifts, scales and gates, one after the other."""
        return affine(self._weights, f"{front}adaLN_modulation")(self._condition)

    def norm(self, name: str, shift: Tensor, scale: Tensor) -> Norm:
        weight = self._weights(f"{name}.weight").float() * (1 + scale)
        return lambda rows: functional.layer_norm(rows, weight.shape, weight, shift)

    def _noise_free(self) -> Tensor:
        """Return the condition of noise level 0: cosines of 0 are 1, sines 0."""
        ones = torch.ones(_N_FREQUENCIES // 2)
        level = torch.cat([ones, torch.zeros(_N_FREQUENCIES // 2)])
        front = f"{_FRONT}sigma_map.mlp."
        inner = functional.silu(affine(self._weights, f"{front}0")(level))
        return functional.silu(affine(self._weights, f"{front}2")(inner))

    def _attention(self, front: str, gate: Tensor) -> Attention:
        weight = self._weights(f"{front}attn_out.weight")
        head_dim = len(weight) // self._n_heads
        return Attention(
            self._n_heads,
            self._n_heads,
            head_dim,
            rotary_frequencies(10000.0, head_dim),
            self._pack(self._weights(f"{front}attn_qkv.weight")),
            None,
            _gated(self._pack(weight), gate),
            None,
        )

    def _feed_forward(self, front: str, gate: Tensor) -> FeedForward:
        up, down = (self._pack(self._weights(f"{front}mlp.{n}.weight")) for n in (0, 2))
        bias_up, bias_down = (
            self._weights(f"{front}mlp.{n}.bias").float() for n in (0, 2)
        )

        def feed_forward(rows: Tensor) -> Tensor:
            inner = functional.gelu(up(rows) + bias_up, approximate="tanh")
            return gate * (down(inner) + bias_down)

        return feed_forward


def _gated(linear: Linear, gate: Tensor) -> Linear:
    return lambda rows: gate * linear(rows)
