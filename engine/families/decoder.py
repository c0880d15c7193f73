"""One decoder for many families: layers are put together from callables.

A family differs from the next in which maps have biases, how queries and keys are
normed, how much of a head is turned, and what the feed-forward part is; each of these
is a value here, none is a subclass. The default model has a tuned `Transformer` of its
own (engine/model.py); what both keep true is that rows of several sequences go through
the linear maps together and each sequence attends to its own cache, so a batch needs no
padding.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as functional
from torch import Tensor

from niello.engine.kernels import Linear

from .cache import Cache

Norm = Callable[[Tensor], Tensor]
FeedForward = Callable[[Tensor], Tensor]


class Rows(NamedTuple):
    """New rows of one sequence for one pass; what the cache holds is visible to all.

    ``visible`` says which of the new rows each new row attends to; None means all.
    """

    token_ids: Tensor  # (time,) int64
    positions: Tensor  # (time,) int64
    cache: Cache
    visible: Tensor | None = None  # (time, time) bool
    vectors: Tensor | None = None  # (time, width): used in place of the embedding


Mixer = Callable[[int, Tensor, Sequence[Rows]], Tensor]
"""Mixes the rows of each sequence: layer number, rows ``(all rows, width)``, batch."""

Scale = Callable[[Tensor, Sequence[Rows]], Tensor]
"""Scales all rows at the end of a layer."""


class Layer(NamedTuple):
    """One layer: mixer and feed-forward, each behind a norm and added to its input."""

    norm_in: Norm
    mixer: Mixer
    norm_ffn: Norm
    feed_forward: FeedForward
    scale: Scale | None = None


class Decoder:
    """Embeddings, layers, and the map back to the vocabulary."""

    def __init__(
        self,
        embedding: Tensor,
        layers: Sequence[Layer],
        norm_out: Norm,
        head: Linear,
        embedding_scale: float = 1.0,
    ) -> None:
        """Join the parts; ``embedding`` is ``(vocabulary, width)``, any float type."""
        self._embedding_scale = embedding_scale
        self.vocabulary = len(embedding)
        self._embedding = embedding
        self._layers = layers
        self._norm_out = norm_out
        self._head = head

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self._embedding.device

    def new_cache(self) -> Cache:
        """Return an empty cache of this model's depth."""
        return Cache(len(self._layers))

    @torch.inference_mode()
    def forward(self, batch: Sequence[Rows]) -> Tensor:
        """Compute all rows; return hidden states ``(all rows, width)``, in order."""
        batch = [_on(rows, self.device) for rows in batch]
        hidden = torch.cat(
            [
                self.embed(rows.token_ids) if rows.vectors is None else rows.vectors
                for rows in batch
            ]
        )
        for number, layer in enumerate(self._layers):
            hidden = hidden + layer.mixer(number, layer.norm_in(hidden), batch)
            hidden = hidden + layer.feed_forward(layer.norm_ffn(hidden))
            if layer.scale is not None:
                hidden = layer.scale(hidden, batch)
        return hidden

    @torch.inference_mode()
    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states ``(rows, width)`` to ``(rows, vocabulary)``, float32."""
        return self._head(self._norm_out(hidden)).float()

    def embed(self, token_ids: Tensor) -> Tensor:
        """Return the input vectors ``(rows, width)`` of tokens."""
        return self._embedding[token_ids].float() * self._embedding_scale

    def blend(self, probabilities: Tensor) -> Tensor:
        """Return input vectors of tokens not yet decided, by their probabilities."""
        # In the embedding's own type, since a copy of it in float32 would be large.
        mixed = probabilities.to(self._embedding.dtype) @ self._embedding
        return mixed.float() * self._embedding_scale


@dataclass(frozen=True)
class Attention:
    """Grouped-query attention with rotary positions; a `Mixer`."""

    n_heads: int
    n_kv_heads: int
    head_dim: int
    frequencies: Tensor  # (turned dims / 2,) float64, radians a position
    qkv: Linear
    qkv_bias: Tensor | None
    out: Linear
    out_bias: Tensor | None
    norm_query: Norm | None = None
    norm_key: Norm | None = None
    norm_before_heads: bool = False  # norms span all heads at once (OLMoE)
    gate: Linear | None = None  # scales what each head has mixed (Qwen3-Next)

    def __call__(self, number: int, rows: Tensor, batch: Sequence[Rows]) -> Tensor:
        """Return what attention adds to each row."""
        queries, keys, values = self._project(rows)
        positions = torch.cat([one.positions for one in batch])
        queries = turn(queries, positions, self.frequencies)
        keys = turn(keys, positions, self.frequencies)
        mixed = torch.empty_like(queries)
        start = 0
        for one in batch:
            part = slice(start, start + len(one.token_ids))
            seen = one.cache.write(
                number, keys[part].transpose(0, 1), values[part].transpose(0, 1)
            )
            visible = with_kept(one.visible, seen[0].shape[1])
            mixed[part] = attend(queries[part], *seen, visible)
            start = part.stop
        flat = mixed.flatten(1)
        if self.gate is not None:
            flat = flat * self.gate(rows).sigmoid()
        summed = self.out(flat)
        return summed if self.out_bias is None else summed + self.out_bias

    def _project(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values ``(rows, heads, dim)``, normed."""
        qkv = self.qkv(rows)
        if self.qkv_bias is not None:
            qkv = qkv + self.qkv_bias
        n_query, n_key = self.n_heads * self.head_dim, self.n_kv_heads * self.head_dim
        flat = list(torch.split(qkv, [n_query, n_key, n_key], -1))
        norms = (self.norm_query, self.norm_key)
        for i, norm in enumerate(norms):
            if norm is not None and self.norm_before_heads:
                flat[i] = norm(flat[i])
        heads = [part.view(len(rows), -1, self.head_dim) for part in flat]
        for i, norm in enumerate(norms):
            if norm is not None and not self.norm_before_heads:
                heads[i] = norm(heads[i])
        return heads[0], heads[1], heads[2]


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    visible: Tensor | None,
    scale: float | None = None,
) -> Tensor:
    """Return ``(time, heads, dim)``; ``visible`` is ``(time, seen)``, None is all."""
    n_shared = queries.shape[1] // keys.shape[0]
    return functional.scaled_dot_product_attention(
        queries.transpose(0, 1)[None],
        keys.repeat_interleave(n_shared, 0)[None],
        values.repeat_interleave(n_shared, 0)[None],
        attn_mask=visible,
        scale=scale,
    )[0].transpose(0, 1)


def with_kept(visible: Tensor | None, n_seen: int) -> Tensor | None:
    """Return who sees whom with the kept rows, seen by all, in front."""
    if visible is None:
        return None
    kept = visible.new_ones(len(visible), n_seen - len(visible))
    return torch.cat([kept, visible], 1)


def rotary_frequencies(base: float, n_turned: int) -> Tensor:
    """Return how fast each pair of the first ``n_turned`` elements turns."""
    steps = torch.arange(0, n_turned, 2, dtype=torch.float64)
    return base ** (-steps / n_turned)


def turn(heads: Tensor, positions: Tensor, frequencies: Tensor) -> Tensor:
    """Rotate the first elements of ``(rows, heads, dim)``: i pairs with i + half."""
    half = len(frequencies)
    # Angles are computed in float64, which some accelerators lack, so on the CPU.
    angles = positions[:, None].double() * frequencies
    cosine = angles.cos().float()[:, None].to(heads.device)
    sine = angles.sin().float()[:, None].to(heads.device)
    first, second = heads[..., :half], heads[..., half : 2 * half]
    return torch.cat(
        [
            first * cosine - second * sine,
            second * cosine + first * sine,
            heads[..., 2 * half :],
        ],
        -1,
    )


def rms_norm(weight: Tensor, eps: float) -> Norm:
    """Return a norm by the root mean square, scaled by ``weight``."""
    weight = weight.float()
    return lambda rows: functional.rms_norm(rows, weight.shape, weight, eps)


def gated(
    gate_up: Linear, down: Linear, gate_by: Callable[[Tensor], Tensor]
) -> FeedForward:
    """Return the gated feed-forward; gate and up are stacked in one map."""

    def feed_forward(rows: Tensor) -> Tensor:
        gate, up = gate_up(rows).chunk(2, -1)
        return down(gate_by(gate) * up)

    return feed_forward


def block_causal(n_rows: int, block: int, first: int = 0) -> Tensor:
    """Return which rows see which: all of their own block and of the ones before.

    ``first`` is the place of row 0 in the text, where blocks count from 0.
    """
    blocks = (torch.arange(n_rows) + first) // block
    return blocks[:, None] >= blocks[None]


def _on(rows: Rows, device: torch.device) -> Rows:
    return rows._replace(
        token_ids=rows.token_ids.to(device),
        visible=None if rows.visible is None else rows.visible.to(device),
    )
