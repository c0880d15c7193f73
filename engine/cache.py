"""Keys and values of text already computed, found again by their tokens.

A `KVCache` belongs to one sequence; a `CacheStore` keeps several under a memory cap and
lends the one that shares the longest beginning with a new prompt. Rows are exact: a row
depends on the tokens before it and on nothing else.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

_WORTH_A_COPY = 32  # rows that must be saved
# Rows by which a cache grows, and in which it is read. Products of up to this length
# are plain sums from first to last in the libraries seen (see `onednn_pays`).
STEP = 192


class KVCache:
    """Rows of keys and values of one sequence, layer by layer."""

    def __init__(self, n_layers: int, n_kv_heads: int, head_dim: int) -> None:
        """Start empty; storage grows as rows are appended."""
        self.token_ids: list[int] = []
        self._shape = (n_layers, 2, n_kv_heads, head_dim)
        self._rows = torch.zeros(n_layers, 2, n_kv_heads, 0, head_dim)

    @property
    def n_bytes(self) -> int:
        """Memory held, in bytes."""
        return self._rows.nbytes

    def reserve(self, n_rows: int) -> None:
        """Make room for ``n_rows`` rows after those that are kept."""
        needed = len(self.token_ids) + n_rows
        if needed > self._rows.shape[3]:
            n_layers, _, n_kv_heads, head_dim = self._shape
            capacity = whole_steps(needed)
            grown = torch.zeros(n_layers, 2, n_kv_heads, capacity, head_dim)
            kept = len(self.token_ids)
            grown[:, :, :, :kept] = self._rows[:, :, :, :kept]
            self._rows = grown

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Put new rows ``(kv_heads, time, dim)`` after the kept ones; return all rows.

        Returned are whole steps; what lies after the new rows is finite and nothing.
        The rows count as kept only once `keep` names their tokens.
        """
        start = len(self.token_ids)
        stop = start + keys.shape[1]
        self._rows[layer, 0, :, start:stop] = keys
        self._rows[layer, 1, :, start:stop] = values
        whole = whole_steps(stop)
        return self._rows[layer, 0, :, :whole], self._rows[layer, 1, :, :whole]

    def keep(self, token_ids: Sequence[int]) -> None:
        """Count the first rows of the last pass as text; the others are dropped."""
        self.token_ids.extend(token_ids)

    def truncate(self, n_rows: int) -> None:
        """Forget all rows but the first ``n_rows``."""
        del self.token_ids[n_rows:]

    def copy(self, n_rows: int | None = None) -> "KVCache":
        """Return an independent cache with the first ``n_rows`` rows, or all."""
        twin = KVCache(self._shape[0], self._shape[2], self._shape[3])
        twin.token_ids = self.token_ids[:n_rows]
        n_kept = len(twin.token_ids)
        twin._rows = self._rows[:, :, :, : whole_steps(n_kept)].clone()
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
