"""Counts what the engine computes, for the numbers of ``niello bench``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from niello.infill.canvas import Canvas, Draws, Fill, Filler, StopFlag
from niello.infill.context import Context

from .next_edit import Scored, Scorer


@runtime_checkable
class Warmer(Protocol):
    """An engine that can compute a context before it is asked to fill."""

    def warm(self, context: Context, stop: StopFlag) -> None:
        """Bring a context into the cache."""
        ...


@dataclass
class Counts:
    """Sums over all fills since the server began."""

    fills: int = 0
    forwards: int = 0
    tokens: int = 0  # written
    fed: int = 0  # computed, those of contexts included
    dropped: int = 0  # of these, drafts and masks that did not become text
    cached: int = 0  # of contexts, found in the cache


class Counting:
    """A filler that counts what another one does."""

    def __init__(self, filler: Filler, counts: Counts) -> None:
        """Count what ``filler`` does in ``counts``."""
        self._filler = filler
        self._counts = counts

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill, and count."""
        found = self._filler.fill(canvases, draws, stop)
        counts = self._counts
        for fill in (each for fills in found for each in fills):
            counts.fills += 1
            counts.forwards += fill.forwards
            counts.tokens += fill.n_tokens
            counts.fed += fill.n_fed
            counts.dropped += fill.n_dropped
            counts.cached += fill.n_cached
        return found

    @property
    def scores(self) -> bool:
        """Whether the engine can tell how likely a text is."""
        return isinstance(self._filler, Scorer)

    def score(self, text: str, start: int, stop: StopFlag) -> Sequence[Scored]:
        """Score a text, if the engine can."""
        if not isinstance(self._filler, Scorer):
            return ()
        return self._filler.score(text, start, stop)

    def warm(self, context: Context, stop: StopFlag) -> None:
        """Compute a context ahead, if the engine can."""
        if isinstance(self._filler, Warmer):
            self._filler.warm(context, stop)
