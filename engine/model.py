"""A decoder-only transformer, read from published weights.

RMSNorm, rotary positions, grouped-query attention and SwiGLU, with the optional parts
that `Facts` names. Rows of several sequences go through the linear maps together, each
sequence attends to its own cache; so a batch needs no padding, and a row's result does
not depend on its neighbours. Knows nothing of text, masks to fill, or sampling.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as functional
from torch import Tensor

from .cache import STEP, KVCache, whole_steps
from .kernels import Linear

_FEW = 4  # of fewer rows matrix products sum up in an order of their own


class Facts(NamedTuple):
    """What a checkpoint's config says of its shape."""

    n_layers: int
    width: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    rope_base: float
    norm_eps: float
    vocabulary: int


class Layer(NamedTuple):
    """The maps of one layer; query, key and value are stacked, as are gate and up."""

    norm_in: Tensor  # (width,)
    qkv: Linear
    qkv_bias: Tensor | None
    attn_out: Linear
    norm_ffn: Tensor  # (width,)
    gate_up: Linear
    down: Linear


class Rows(NamedTuple):
    """New rows of one sequence for one pass.

    ``visible`` says which of the new rows each new row attends to, itself included;
    None means causal. What the cache holds is visible to all.
    """

    token_ids: Tensor  # (time,) int64; ignored where ``vectors`` is given
    positions: Tensor  # (time,) int64
    cache: KVCache
    visible: Tensor | None = None  # (time, time) bool
    masks: Tensor | None = None  # (time,) int64: mask offsets from 1, 0 for text


class Guesser(Protocol):
    """Chooses tokens for a block of masks."""

    def guess(
        self, hidden: Tensor, known: int, embedding: Tensor, sure: float
    ) -> list[int]:
        """Return tokens for the masks after ``known``, as long as they are sure."""
        ...


class MaskMode(Protocol):
    """Low-rank maps and input vectors that act at mask rows only."""

    def embed(self, offsets: Tensor) -> Tensor:
        """Return ``(n_masks, width)`` input vectors."""
        ...

    def qkv(self, layer: int, rows: Tensor) -> Tensor:
        """Return what is added to the stacked query, key, value map's result."""
        ...

    def attn_out(self, layer: int, rows: Tensor) -> Tensor:
        """Return what is added to the output map's result."""
        ...

    def gate_up(self, layer: int, rows: Tensor) -> Tensor:
        """Return what is added to the stacked gate and up map's result."""
        ...

    def down(self, layer: int, rows: Tensor) -> Tensor:
        """Return what is added to the down map's result."""
        ...


class Transformer:
    """The model: embeddings, layers, and the map back to the vocabulary."""

    def __init__(
        self,
        facts: Facts,
        embedding: Tensor,
        layers: Sequence[Layer],
        norm_out: Tensor,
        head: Linear,
    ) -> None:
        """Join the parts; ``embedding`` is ``(vocabulary, width)``, any float type."""
        self.facts = facts
        self.mask_mode: MaskMode | None = None
        self._guesser: Guesser | None = None
        self._embedding = embedding
        self._layers = layers
        self._norm_out = norm_out
        self._head = head
        steps = torch.arange(0, facts.head_dim, 2, dtype=torch.float64)
        self._frequencies = facts.rope_base ** (-steps / facts.head_dim)

    def new_cache(self) -> KVCache:
        """Return an empty cache of this model's shape."""
        return KVCache(self.facts.n_layers, self.facts.n_kv_heads, self.facts.head_dim)

    @torch.inference_mode()
    def forward(self, batch: Sequence[Rows]) -> Tensor:
        """Compute all rows; return hidden states ``(all rows, width)``, in order.

        Each cache holds the new rows' keys and values afterwards, not yet kept.
        """
        for rows in batch:
            rows.cache.reserve(len(rows.token_ids))
        hidden, masks = self._embed(batch)  # (all rows, width)
        turn = self._turn(torch.cat([rows.positions for rows in batch]))
        biases = [_attention_bias(rows) for rows in batch]
        extra = self.mask_mode if masks is not None else None
        for number, layer in enumerate(self._layers):
            rows_in = self._norm(hidden, layer.norm_in)
            qkv = layer.qkv(rows_in)  # (all rows, (heads + 2 kv_heads) dim)
            if layer.qkv_bias is not None:
                qkv += layer.qkv_bias
            if extra:
                qkv[masks] += extra.qkv(number, rows_in[masks])
            mixed = self._attend(number, qkv, turn, batch, biases)
            hidden += layer.attn_out(mixed)
            if extra:
                hidden[masks] += extra.attn_out(number, mixed[masks])
            rows_in = self._norm(hidden, layer.norm_ffn)
            gate_up = layer.gate_up(rows_in)  # (all rows, 2 ffn)
            if extra:
                gate_up[masks] += extra.gate_up(number, rows_in[masks])
            gate, up = gate_up.chunk(2, dim=-1)
            gated = functional.silu(gate).mul_(up)
            hidden += layer.down(gated)
            if extra:
                hidden[masks] += extra.down(number, gated[masks])
        return hidden

    @torch.inference_mode()
    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states ``(rows, width)`` to ``(rows, vocabulary)``."""
        return self._head(self._norm(hidden, self._norm_out))

    def add_masks(self, masks: MaskMode, guesser: Guesser) -> None:
        """Let rows be masks, and have their tokens guessed."""
        self.mask_mode = masks
        self._guesser = guesser

    @torch.inference_mode()
    def guess(self, hidden: Tensor, known: int, sure: float = 0.0) -> list[int]:
        """Return tokens for a block of masks ``(n_masks, width)`` after ``known``.

        It ends before the first with a probability below ``sure``.
        """
        assert self._guesser is not None, "mask rows need a mask mode"
        normed = self._norm(hidden, self._norm_out)
        return self._guesser.guess(normed, known, self._embedding, sure)

    def _embed(self, batch: Sequence[Rows]) -> tuple[Tensor, slice | Tensor | None]:
        """Return input vectors of all rows, and which of them are masks if any is."""
        token_ids = torch.cat([rows.token_ids for rows in batch])
        hidden = self._embedding[token_ids].float()
        if all(rows.masks is None for rows in batch):
            return hidden, None
        offsets = torch.cat(
            [
                torch.zeros_like(r.token_ids) if r.masks is None else r.masks
                for r in batch
            ]
        )
        if not offsets.any():
            return hidden, None
        assert self.mask_mode is not None, "mask rows need a mask mode"
        masks = _as_slice(offsets.nonzero()[:, 0])
        hidden[masks] = self.mask_mode.embed(offsets[masks])
        return hidden, masks

    def _norm(self, rows: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(rows, weight.shape, weight, self.facts.norm_eps)

    def _turn(self, positions: Tensor) -> Tensor:
        """Return rotations ``(rows, 1, dim / 2)`` as complex numbers."""
        angles = positions[:, None].double() * self._frequencies
        return torch.polar(torch.ones_like(angles), angles).to(torch.complex64)[:, None]

    def _attend(
        self,
        number: int,
        qkv: Tensor,
        turn: Tensor,
        batch: Sequence[Rows],
        biases: Sequence[Tensor],
    ) -> Tensor:
        """Mix values by attention, each sequence within its own cache."""
        facts = self.facts
        n_turned = facts.n_heads + facts.n_kv_heads
        heads = qkv.view(len(qkv), -1, facts.head_dim)  # (rows, heads, dim)
        turned = _rotate(heads[:, :n_turned], turn)
        mixed = torch.empty(len(qkv), facts.n_heads * facts.head_dim)
        start = 0
        for rows, bias in zip(batch, biases, strict=True):
            stop = start + len(rows.token_ids)
            keys, values = rows.cache.write(
                number,
                turned[start:stop, facts.n_heads :].transpose(0, 1),
                heads[start:stop, n_turned:].transpose(0, 1),
            )  # (kv_heads, seen, dim)
            queries = turned[start:stop, : facts.n_heads]
            mixed[start:stop] = _attention(queries, keys, values, bias)
            start = stop
        return mixed


def _attention_bias(rows: Rows) -> Tensor:
    """Return what is added to the scores ``(time, seen)``: 0 or minus infinity."""
    n_new, n_kept = len(rows.token_ids), len(rows.cache.token_ids)
    n_seen = n_kept + n_new
    bias = torch.zeros(n_new, whole_steps(n_seen))
    bias[:, n_seen:] = float("-inf")
    if rows.visible is None:
        bias[:, n_kept:n_seen] = torch.full((n_new, n_new), float("-inf")).triu_(1)
    else:
        bias[:, n_kept:n_seen].masked_fill_(~rows.visible, float("-inf"))
    return bias


def _attention(queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
    """Return ``(time, heads * dim)``; heads that share a key head are put together.

    Values are mixed step by step: how a matrix product sums up depends on its length,
    and a row must come out the same to the last bit however many stand beside it.
    """
    n_kv_heads, n_asked = len(keys), len(queries)
    if n_asked * queries.shape[1] < _FEW * n_kv_heads:
        queries = functional.pad(queries, (0, 0, 0, 0, 0, _FEW - n_asked))
        bias = functional.pad(bias, (0, 0, 0, _FEW - n_asked))
    n_new, _, head_dim = queries.shape
    grouped = queries.view(n_new, n_kv_heads, -1, head_dim).permute(1, 2, 0, 3)
    scores = grouped.reshape(n_kv_heads, -1, head_dim) @ keys.transpose(1, 2)
    scores = scores.mul_(head_dim**-0.5).view(n_kv_heads, -1, n_new, keys.shape[1])
    weights = (scores + bias).softmax(-1).view(n_kv_heads, -1, keys.shape[1])
    mixed = weights[:, :, :STEP] @ values[:, :STEP]
    for start in range(STEP, keys.shape[1], STEP):
        stop = start + STEP
        mixed.baddbmm_(weights[:, :, start:stop], values[:, start:stop])
    mixed = mixed.view(n_kv_heads, -1, n_new, head_dim)
    return mixed.permute(2, 0, 1, 3).reshape(n_new, -1)[:n_asked]


def _rotate(heads: Tensor, turn: Tensor) -> Tensor:
    """Rotate ``(rows, heads, dim)``: element i and i + dim/2 are one complex number."""
    real, imaginary = heads.chunk(2, dim=-1)
    turned = torch.complex(real, imaginary) * turn
    return torch.cat([turned.real, turned.imag], dim=-1)


def _as_slice(index: Tensor) -> slice | Tensor:
    """Return neighbours as a slice, which copies nothing."""
    first, last = int(index[0]), int(index[-1])
    return slice(first, last + 1) if last - first == len(index) - 1 else index
