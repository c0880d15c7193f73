"""Attention without keys to look back at: the gated delta rule of Qwen3-Next.

Each head keeps one matrix. A row lets it decay, corrects what it would have answered
to the row's key, and asks it the row's query (arXiv 2412.06464). Rows go one by one:
right, and slow for long prompts. Formulas and names are those of transformers'
qwen3_next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as functional
from torch import Tensor

from niello.engine.kernels import Linear

from .cache import State
from .decoder import Rows
from .weights import Pack, Shape, Weights


class Heads(NamedTuple):
    """How many heads of which size; value heads share key heads in groups."""

    n_keys: int
    n_values: int
    key_dim: int
    value_dim: int


@dataclass(frozen=True)
class GatedDelta:
    """A `Mixer` whose memory of a sequence has one size, however long it is."""

    heads: Heads
    in_parts: Linear  # query, key, value and gate, grouped by key head
    in_rates: Linear  # correction and decay rates, grouped by key head
    kernel: Tensor  # (channels, width): mixes each channel over the last rows
    decay: Tensor  # (value heads,)
    decay_bias: Tensor  # (value heads,)
    norm: Tensor  # (value_dim,)
    eps: float
    out: Linear

    def __call__(self, number: int, rows: Tensor, batch: Sequence[Rows]) -> Tensor:
        """Return what the memory answers to each row."""
        parts, rates = self.in_parts(rows).float(), self.in_rates(rows).float()
        mixed = []
        start = 0
        for one in batch:
            part = slice(start, start + len(one.token_ids))
            answer = self._answer(number, parts[part], rates[part], one)
            mixed.append(answer)
            start = part.stop
        return self.out(torch.cat(mixed))

    def _answer(self, number: int, parts: Tensor, rates: Tensor, one: Rows) -> Tensor:
        heads = self.heads
        share = heads.n_values // heads.n_keys
        per_key = parts.view(len(parts), heads.n_keys, -1)
        query, key, value, gate = torch.split(
            per_key, [heads.key_dim] * 2 + [share * heads.value_dim] * 2, -1
        )
        correct, slow = rates.view(len(rates), heads.n_keys, 2, share).unbind(2)
        channels = torch.cat([query.flatten(1), key.flatten(1), value.flatten(1)], -1)
        earlier, memory = one.cache.state(number) or self._blank(channels)
        channels = torch.cat([earlier, channels])
        width = self.kernel.shape[1]
        steps = _Steps(
            self._split(self._convolve(channels)),
            correct.flatten(1).sigmoid(),
            -self.decay * functional.softplus(slow.flatten(1) + self.decay_bias),
        )

        def advance(n_rows: int) -> State:
            last = channels[n_rows : n_rows + width - 1]
            return last, steps.run(memory, n_rows)[1]

        one.cache.write_state(number, advance)
        answers, _ = steps.run(memory, len(parts))
        normed = functional.rms_norm(answers, self.norm.shape, self.norm, self.eps)
        gate = gate.reshape(len(parts), heads.n_values, heads.value_dim)
        return (normed * functional.silu(gate)).flatten(1)

    def _blank(self, channels: Tensor) -> State:
        heads, width = self.heads, self.kernel.shape[1]
        memory = channels.new_zeros(heads.n_values, heads.key_dim, heads.value_dim)
        return channels.new_zeros(width - 1, channels.shape[1]), memory

    def _convolve(self, channels: Tensor) -> Tensor:
        """Mix each channel over a row and the ones before it."""
        mixed = functional.conv1d(
            channels.T[None], self.kernel[:, None], groups=len(self.kernel)
        )
        return functional.silu(mixed[0].T)

    def _split(self, channels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values ``(rows, value heads, dim)``."""
        heads = self.heads
        n_key = heads.n_keys * heads.key_dim
        query, key, value = torch.split(
            channels, [n_key, n_key, heads.n_values * heads.value_dim], -1
        )
        share = heads.n_values // heads.n_keys
        unit = [
            _unit(x.view(len(x), heads.n_keys, -1)).repeat_interleave(share, 1)
            for x in (query, key)
        ]
        return (
            unit[0] * heads.key_dim**-0.5,
            unit[1],
            value.view(len(value), heads.n_values, -1),
        )


class _Steps(NamedTuple):
    """What each row does to the memory."""

    parts: tuple[Tensor, Tensor, Tensor]
    correct: Tensor  # (rows, heads)
    decay: Tensor  # (rows, heads), logarithm

    def run(self, memory: Tensor, n_rows: int) -> tuple[Tensor, Tensor]:
        """Return the answers of the first rows and the memory after them."""
        queries, keys, values = self.parts
        answers = torch.empty_like(values[:n_rows])
        for row in range(n_rows):
            key = keys[row, :, :, None]
            memory = memory * self.decay[row].exp()[:, None, None]
            known = (memory * key).sum(1)
            error = (values[row] - known) * self.correct[row][:, None]
            memory = memory + key * error[:, None]
            answers[row] = (memory * queries[row, :, :, None]).sum(1)
        return answers, memory


def load_delta(weights: Weights, front: str, shape: Shape, pack: Pack) -> GatedDelta:
    """Read one layer."""
    counts = [
        shape.value(f"linear_{name}")
        for name in (
            "num_key_heads",
            "num_value_heads",
            "key_head_dim",
            "value_head_dim",
        )
    ]
    n_keys, n_values, key_dim, value_dim = (int(str(count)) for count in counts)
    return GatedDelta(
        Heads(n_keys, n_values, key_dim, value_dim),
        pack(weights(f"{front}in_proj_qkvz.weight")),
        pack(weights(f"{front}in_proj_ba.weight")),
        weights(f"{front}conv1d.weight")[:, 0].float(),
        weights(f"{front}A_log").float().exp(),
        weights(f"{front}dt_bias").float(),
        weights(f"{front}norm.weight").float(),
        shape.number("norm_eps"),
        pack(weights(f"{front}out_proj.weight")),
    )


def _unit(rows: Tensor) -> Tensor:
    return rows * (rows.square().sum(-1, keepdim=True) + 1e-6).rsqrt()
