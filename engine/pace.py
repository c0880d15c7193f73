"""How much a pass feeds: chosen by what a row costs here and what drafts have gained.

A pass of n rows takes about ``fixed + n * each`` seconds. Where a row is nearly free,
long blocks of masks pay; where arithmetic is scarce, one draft a pass is best, or none.
"""

import time
from typing import NamedTuple

import torch

from .model import Rows, Transformer

_PRIOR = (0.65, 0.55, 0.45, 0.4, 0.35)  # chance of each draft token after right ones
_WEIGHT = 20.0  # drafts that the prior counts for


class Cost(NamedTuple):
    """Seconds of a pass, and of each of its rows."""

    fixed: float
    each: float

    def seconds(self, n_rows: float) -> float:
        """Return what a pass of ``n_rows`` takes."""
        return self.fixed + n_rows * self.each


class Pace:
    """Chooses the length of the blocks of masks, and learns from each checked draft."""

    def __init__(self, cost: Cost, n_most: int) -> None:
        """Allow blocks of up to ``n_most`` masks; 0 never uses any."""
        self._cost = cost
        self._n_most = n_most
        self._tried = [_WEIGHT] * len(_PRIOR)
        self._right = [_WEIGHT * share for share in _PRIOR]

    def learn(self, n_drafted: int, n_agreed: int) -> None:
        """Count a draft of masks of which ``n_agreed`` tokens were right."""
        for place in range(min(n_drafted, n_agreed + 1, len(self._tried))):
            self._tried[place] += 1
            self._right[place] += place < n_agreed

    def n_masks(self, n_canvases: int = 1) -> int:
        """Return the length of block that gives most tokens a second; 0 for none.

        Canvases filled in one pass share what it costs beside its rows.
        """
        best, best_rate = 0, 1 / self._cost.seconds(n_canvases)
        chance, gained = 1.0, 1.0
        for n_masks in range(1, min(self._n_most, len(_PRIOR)) + 1):
            chance *= self._right[n_masks - 1] / self._tried[n_masks - 1]
            gained += chance
            # The last token and its draft, and a block after each of them.
            n_rows = n_canvases * (1 + n_masks) * (1 + n_masks)
            rate = gained / self._cost.seconds(n_rows)
            if rate > best_rate:
                best, best_rate = n_masks, rate
        return best


def measure(model: Transformer, n_repeats: int = 3) -> Cost:
    """Time passes of 1 and 16 rows in turn; the best of each, as noise only adds."""
    pairs = [(_seconds(model, 1), _seconds(model, 16)) for _ in range(n_repeats)]
    few, many = (min(times) for times in zip(*pairs, strict=True))
    each = max(0.0, (many - few) / 15)
    return Cost(few - each, each)


def _seconds(model: Transformer, n_rows: int) -> float:
    rows = Rows(torch.zeros(n_rows).long(), torch.arange(n_rows), model.new_cache())
    start = time.perf_counter()
    model.logits(model.forward([rows]))
    return time.perf_counter() - start
