"""Keys and values of text already computed, found again by their tokens.

A `KVCache` belongs to one sequence; a `CacheStore` keeps several under a memory cap and
lends the one that shares the longest beginning with a new prompt. Rows are exact: a row
depends on the tokens before it and on nothing else.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

_WORTH_A_COPY = 32  # rows that must be saved
# Rows by which a cache grows and in which it is read; a small step leaves few rows that
# are read for nothing. Products of up to 192 terms are plain sums from first to last in
# the libraries seen (see `onednn_pays`).
STEP = 96


class Seen(NamedTuple):
    """Keys and values of one layer, in whole steps and as products read them best.

    What lies after the rows that were written is finite and nothing.
    """

    keys: Tensor  # (kv_heads, dim, rows)
    values: Tensor  # (steps, kv_heads, STEP, dim)


class KVCache:
    """Rows of keys and values of one sequence, layer by layer."""

    def __init__(self, n_layers: int, n_kv_heads: int, head_dim: int) -> None:
        """Start empty; storage grows as rows are appended."""
        self.token_ids: list[int] = []
        self._shape = (n_layers, n_kv_heads, head_dim)
        self._keys = torch.zeros(n_layers, n_kv_heads, head_dim, 0)
        self._values = torch.zeros(n_layers, 0, n_kv_heads, STEP, head_dim)

    @property
    def n_bytes(self) -> int:
        """Memory held, in bytes."""
        return self._keys.nbytes + self._values.nbytes

    def reserve(self, n_rows: int) -> None:
        """Make room for ``n_rows`` rows after those that are kept."""
        needed = whole_steps(len(self.token_ids) + n_rows)
        if needed > self._keys.shape[-1]:
            n_layers, n_kv_heads, head_dim = self._shape
            keys = torch.zeros(n_layers, n_kv_heads, head_dim, needed)
            values = torch.zeros(n_layers, needed // STEP, n_kv_heads, STEP, head_dim)
            kept = whole_steps(len(self.token_ids))
            keys[..., :kept] = self._keys[..., :kept]
            values[:, : kept // STEP] = self._values[:, : kept // STEP]
            self._keys, self._values = keys, values

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Seen:
        """Put new rows ``(time, kv_heads, dim)`` after the kept ones; return all rows.

        The rows count as kept only once `keep` names their tokens.
        """
        start = len(self.token_ids)
        stop = start + len(keys)
        self._keys[layer, :, :, start:stop] = keys.permute(1, 2, 0)
        for first in range(start - start % STEP, stop, STEP):
            here = slice(max(start, first), min(stop, first + STEP))
            part = values[here.start - start : here.stop - start].transpose(0, 1)
            step = self._values[layer, first // STEP]
            step[:, here.start - first : here.stop - first] = part
        whole = whole_steps(stop)
        return Seen(
            self._keys[layer, :, :, :whole], self._values[layer, : whole // STEP]
        )

    def keep(self, token_ids: Sequence[int]) -> None:
        """Count the first rows of the last pass as text; the others are dropped."""
        self.token_ids.extend(token_ids)

    def truncate(self, n_rows: int) -> None:
        """Forget all rows but the first ``n_rows``."""
        del self.token_ids[n_rows:]

    def copy(self, n_rows: int | None = None) -> "KVCache":
        """Return an independent cache with the first ``n_rows`` rows, or all."""
        twin = KVCache(*self._shape)
        twin.token_ids = self.token_ids[:n_rows]
        whole = whole_steps(len(twin.token_ids))
        twin._keys = self._keys[..., :whole].clone()
        twin._values = self._values[:, : whole // STEP].clone()
        return twin


def whole_steps(n_rows: int) -> int:
    """Return ``n_rows`` rounded up to whole steps."""
    return -(-n_rows // STEP) * STEP


class CacheStore:
    """Caches of recent prompts, least recently used dropped above ``max_bytes``."""

    def __init__(self, n_layers: int, n_kv_heads: int, head_dim: int, max_bytes: int):
        """Keep caches of sequences of the given shape."""
        self._shape = (n_layers, n_kv_heads, head_dim)
        self._max_bytes = max_bytes
        self._caches: list[KVCache] = []  # most recently used last

    @property
    def n_bytes(self) -> int:
        """Memory held, in bytes."""
        return sum(cache.n_bytes for cache in self._caches)

    def clear(self) -> None:
        """Forget everything."""
        self._caches.clear()

    def borrow(self, token_ids: Sequence[int], lent: Sequence[KVCache] = ()) -> KVCache:
        """Take the cache with the longest beginning in common, cut to it.

        A cache of other text, whose beginning differs early, is left for its own
        document; one of ``lent``, still in use, is copied where it saves more. Give the
        cache back when its rows are whole.
        """
        best, n_best = None, 0
        for cache in reversed(self._caches):
            n_common = common_length(cache.token_ids, token_ids)
            # One that would lose most of its rows serves another document better.
            if n_common > n_best and 2 * n_common >= len(cache.token_ids):
                best, n_best = cache, n_common
        for cache in lent:
            n_common = common_length(cache.token_ids, token_ids)
            if n_common > n_best + _WORTH_A_COPY:
                best, n_best = cache.copy(n_common), n_common
        if best is None:
            return KVCache(*self._shape)
        if best not in self._caches:
            return best
        self._caches.remove(best)
        best.truncate(n_best)
        return best

    def give_back(self, cache: KVCache) -> None:
        """Keep a cache for later, as the most recently used."""
        self._caches.append(cache)
        while self.n_bytes > self._max_bytes and len(self._caches) > 1:
            del self._caches[0]


def worth_a_copy(left: Sequence[int], right: Sequence[int]) -> bool:
    """Tell whether one of two texts is better begun with a copy of the other's rows."""
    return common_length(left, right) > _WORTH_A_COPY


def common_length(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many leading items are equal."""
    n_most = min(len(left), len(right))
    if left[:n_most] == right[:n_most]:
        return n_most
    return next(i for i in range(n_most) if left[i] != right[i])
