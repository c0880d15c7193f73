"""Keys and values of rows already computed, for models of any layer shape and device.

The order of rows in a cache says nothing about their place in the text: positions are
turned into the keys. So a prefix and a suffix may stand side by side in one cache while
the canvas between them is computed again and again.
"""

from collections.abc import Callable, Sequence
from threading import Lock

import torch
from torch import Tensor

from niello.engine.cache import common_length

State = tuple[Tensor, ...]
"""What a recurrent layer remembers of all rows before."""


class Cache:
    """Rows of one sequence, layer by layer; new rows count once `keep` names them."""

    def __init__(self, n_layers: int) -> None:
        """Start empty."""
        self.token_ids: list[int] = []
        self._kept: list[tuple[Tensor, Tensor] | None] = [None] * n_layers
        self._new: list[tuple[Tensor, Tensor] | None] = [None] * n_layers
        self._states: dict[int, State] = {}
        self._advance: dict[int, Callable[[int], State]] = {}

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Put new rows ``(kv_heads, time, dim)`` after the kept ones; return all."""
        self._new[layer] = keys, values
        kept = self._kept[layer]
        if kept is None:
            return keys, values
        return torch.cat([kept[0], keys], 1), torch.cat([kept[1], values], 1)

    def state(self, layer: int) -> State | None:
        """Return what a recurrent layer remembers of the kept rows."""
        return self._states.get(layer)

    def write_state(self, layer: int, advance: Callable[[int], State]) -> None:
        """Take the function that gives the state after the first new rows."""
        self._advance[layer] = advance

    def keep(self, token_ids: Sequence[int]) -> None:
        """Count the first rows of the last pass as context; the others are dropped."""
        n_rows = len(token_ids)
        for layer, new in enumerate(self._new):
            if new is not None:
                rows = new[0][:, :n_rows], new[1][:, :n_rows]
                kept = self._kept[layer]
                self._kept[layer] = rows if kept is None else _joined(kept, rows)
        for layer, advance in self._advance.items():
            self._states[layer] = advance(n_rows)
        self.token_ids.extend(token_ids)

    def truncate(self, n_rows: int) -> None:
        """Forget all rows but the first ``n_rows``; with a recurrent layer, forget all.

        Such a layer cannot go back.
        """
        if n_rows >= len(self.token_ids):
            return
        if self._states:
            n_rows = 0
            self._states.clear()
        del self.token_ids[n_rows:]
        self._kept = [
            None if kept is None or not n_rows else _first(kept, n_rows)
            for kept in self._kept
        ]


def _joined(
    kept: tuple[Tensor, Tensor], new: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    return torch.cat([kept[0], new[0]], 1), torch.cat([kept[1], new[1]], 1)


def _first(rows: tuple[Tensor, Tensor], n_rows: int) -> tuple[Tensor, Tensor]:
    return rows[0][:, :n_rows], rows[1][:, :n_rows]


class CachePool:
    """Caches of recent prompts, lent to one job each; safe for several threads."""

    def __init__(
        self, new: Callable[[], Cache], block: int, n_most: int = 4, on: bool = True
    ) -> None:
        """Keep ``n_most`` caches whose rows are exact in whole blocks."""
        self._new, self._block, self._n_most, self._on = new, block, n_most, on
        self._caches: list[Cache] = []  # most recently used last
        self._lock = Lock()

    def borrow(self, prompt: Sequence[int]) -> Cache:
        """Take the cache with the longest beginning in common, cut to whole blocks."""
        with self._lock:
            common = [common_length(one.token_ids, prompt) for one in self._caches]
            n_kept = max(common, default=0) // self._block * self._block
            if n_kept == 0:
                return self._new()
            cache = self._caches.pop(common.index(max(common)))
        cache.truncate(n_kept)
        return cache

    def give_back(self, cache: Cache) -> None:
        """Keep a cache for later; the least recently used one goes."""
        if self._on:
            with self._lock:
                self._caches = [*self._caches, cache][-self._n_most :]
