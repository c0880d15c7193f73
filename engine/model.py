"""A decoder-only transformer, read from published weights.

RMSNorm, rotary positions, grouped-query attention and SwiGLU, with the optional parts
that `Facts` names. Rows of several sequences go through the linear maps together, each
sequence attends to its own cache; so a batch needs no padding, and a row's result does
not depend on its neighbours. Knows nothing of text, masks to fill, or sampling.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as functional
from torch import Tensor

from niello.infill.canvas import StopFlag, never

from .attention import attend, attention_bias, rotate
from .cache import KVCache, Seen
from .draft import Draft
from .ends import EndJudge
from .kernels import Linear


class Stopped(Exception):
    """Raised within a pass that nobody waits for any more; its rows are not kept."""


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
    """Chooses tokens for blocks of masks."""

    def guess(
        self,
        blocks: Sequence[Tensor],
        known: Sequence[int],
        embedding: Tensor,
        sure: float,
    ) -> list[Draft]:
        """Return tokens for the blocks after ``known``, as long as they are sure."""
        ...


class MaskMode(Protocol):
    """Low-rank maps and input vectors that act at mask rows only."""

    def embed(self, offsets: Tensor) -> Tensor:
        """Return ``(n_masks, width)`` input vectors."""
        ...

    def add(self, layer: int, name: str, result: Tensor, rows: Tensor) -> None:
        """Add to the ``result`` of a layer's map for these ``rows``, in place.

        ``name`` is attn_qkv (the stacked maps), attn_out, ffn_gate_up (stacked) or
        ffn_down.
        """
        ...


_Masks = slice | Tensor | None
"""Which rows of a pass are masks, if any is."""


class _Pass(NamedTuple):
    """What all layers of a pass share."""

    batch: Sequence[Rows]
    turn: Tensor  # (all rows, 1, dim / 2) complex: the positions' rotations
    biases: Sequence[Tensor]  # one a sequence, see `attention_bias`
    masks: _Masks


class _Heads(NamedTuple):
    """One sequence's part of a layer."""

    queries: Tensor  # (time, heads, dim)
    seen: Seen


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
        self.ends: EndJudge | None = None
        self.onednn = False  # whether attention is left to oneDNN
        # What surrounds each pass, as `Threads.watched` does.
        self.watched: Callable[[], AbstractContextManager[None]] = nullcontext
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
    def forward(self, batch: Sequence[Rows], stop: StopFlag = never) -> Tensor:
        """Compute all rows; return hidden states ``(all rows, width)``, in order.

        Each cache holds the new rows' keys and values afterwards, not yet kept. The
        flag is read before each layer and ends the pass with `Stopped`.
        """
        with self.watched():
            hidden, shared = self._begin(batch)
            self._compute(self.facts.n_layers, hidden, shared, stop)
        return hidden

    @torch.inference_mode()
    def read(self, batch: Sequence[Rows], stop: StopFlag = never) -> None:
        """Compute the keys and values of rows that nobody asks more of, as `forward`.

        The last layer's are all that is computed of it.
        """
        last = self.facts.n_layers - 1
        with self.watched():
            hidden, shared = self._begin(batch)
            self._compute(last, hidden, shared, stop)
            self._project(last, self._norm(hidden, self._layers[last].norm_in), shared)

    @torch.inference_mode()
    def logits(self, hidden: Tensor, line_ends: Sequence[int] = ()) -> Tensor:
        """Map hidden states ``(rows, width)`` to ``(rows, vocabulary)``.

        In the rows ``line_ends`` the end judge, if there is one, says how likely the
        text ends there.
        """
        normed = self.normed(hidden)
        logits = self._head(normed)
        if self.ends is not None:
            self.ends.weigh(normed, logits, line_ends)
        return logits

    @torch.inference_mode()
    def normed(self, hidden: Tensor) -> Tensor:
        """Return hidden states as the map to the vocabulary takes them."""
        return self._norm(hidden, self._norm_out)

    def add_masks(self, masks: MaskMode, guesser: Guesser) -> None:
        """Let rows be masks, and have their tokens guessed."""
        self.mask_mode = masks
        self._guesser = guesser

    @torch.inference_mode()
    def guess(
        self, blocks: Sequence[Tensor], known: Sequence[int], sure: float = 0.0
    ) -> list[Draft]:
        """Return tokens for blocks of masks ``(n_masks, width)`` after ``known`` ones.

        A draft ends before the first with a probability below ``sure``.
        """
        assert self._guesser is not None, "mask rows need a mask mode"
        normed = [self.normed(block) for block in blocks]
        return self._guesser.guess(normed, known, self._embedding, sure)

    def _begin(self, batch: Sequence[Rows]) -> tuple[Tensor, _Pass]:
        """Return the input vectors of all rows, and what the layers share."""
        for rows in batch:
            rows.cache.reserve(len(rows.token_ids))
        hidden, masks = self._embed(batch)  # (all rows, width)
        turn = self._turn(torch.cat([rows.positions for rows in batch]))
        biases = [
            attention_bias(len(r.token_ids), len(r.cache.token_ids), r.visible)
            for r in batch
        ]
        return hidden, _Pass(batch, turn, biases, masks)

    def _compute(
        self, n_layers: int, hidden: Tensor, shared: _Pass, stop: StopFlag
    ) -> None:
        """Take the hidden states through the first layers, in place."""
        masks = shared.masks
        for number, layer in enumerate(self._layers[:n_layers]):
            if stop():
                raise Stopped
            rows_in = self._norm(hidden, layer.norm_in)
            mixed = self._attend(self._project(number, rows_in, shared), shared)
            hidden += layer.attn_out(mixed)
            self._add_masks(number, "attn_out", hidden, mixed, masks)
            rows_in = self._norm(hidden, layer.norm_ffn)
            gate_up = layer.gate_up(rows_in)  # (all rows, 2 ffn)
            self._add_masks(number, "ffn_gate_up", gate_up, rows_in, masks)
            gate, up = gate_up.chunk(2, dim=-1)
            gated = functional.silu(gate).mul_(up)
            hidden += layer.down(gated)
            self._add_masks(number, "ffn_down", hidden, gated, masks)

    def _embed(self, batch: Sequence[Rows]) -> tuple[Tensor, _Masks]:
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

    def _project(self, number: int, rows_in: Tensor, shared: _Pass) -> list[_Heads]:
        """Map rows to queries, keys and values; the caches hold the latter two."""
        facts, layer = self.facts, self._layers[number]
        qkv = layer.qkv(rows_in)  # (all rows, (heads + 2 kv_heads) dim)
        if layer.qkv_bias is not None:
            qkv += layer.qkv_bias
        self._add_masks(number, "attn_qkv", qkv, rows_in, shared.masks)
        n_turned = facts.n_heads + facts.n_kv_heads
        heads = qkv.view(len(qkv), -1, facts.head_dim)  # (rows, heads, dim)
        turned = rotate(heads[:, :n_turned], shared.turn)
        sizes = [len(rows.token_ids) for rows in shared.batch]
        parts = zip(
            *(shared.batch, torch.split(turned, sizes), torch.split(heads, sizes)),
            strict=True,
        )
        return [
            _Heads(
                turned_part[:, : facts.n_heads],
                rows.cache.write(
                    number, turned_part[:, facts.n_heads :], part[:, n_turned:]
                ),
            )
            for rows, turned_part, part in parts
        ]

    def _add_masks(
        self, number: int, name: str, result: Tensor, rows: Tensor, masks: _Masks
    ) -> None:
        """Add what mask mode does to the mask rows of a map's result."""
        if masks is None or self.mask_mode is None:
            return
        part = result[masks]
        self.mask_mode.add(number, name, part, rows[masks])
        if isinstance(masks, Tensor):  # a slice is part of the result itself
            result[masks] = part

    def _attend(self, heads: Sequence[_Heads], shared: _Pass) -> Tensor:
        """Mix values by attention, each sequence within its own cache."""
        mixed = [
            attend(*own, bias, self.onednn)
            for own, bias in zip(heads, shared.biases, strict=True)
        ]
        return mixed[0] if len(mixed) == 1 else torch.cat(mixed)


def _as_slice(index: Tensor) -> slice | Tensor:
    """Return neighbours as a slice, which copies nothing."""
    first, last = int(index[0]), int(index[-1])
    return slice(first, last + 1) if last - first == len(index) - 1 else index
