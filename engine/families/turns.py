"""Which places of a canvas a pass may decide, and how many of them it should."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from .commit import SCHEDULES
from .decoding import Decoding
from .draft import Draft
from .family import Family

_LEAST = 1e-5  # the noise level at which MDLM's sampler ends


class Turn(NamedTuple):
    """One pass over a window of the canvas."""

    inside: Tensor  # (places,) bool: the window
    masked: Tensor  # (places,) bool: its places that are not decided
    n_places: int  # how many a schedule wants decided; 0 without one
    number: int  # passes over the window before this one
    n_passes: int  # how many a rule that counts them has

    @property
    def n_masks(self) -> int:
        """How many places of the window stay masked after this pass."""
        left = 1.0 - (self.number + 1) / self.n_passes
        return max(0, int((self.inside.sum().float() * left).floor()))

    @property
    def levels(self) -> tuple[float, float] | None:
        """The noise levels before and after this pass, None behind the last."""
        if self.number >= self.n_passes:
            return None
        levels = torch.linspace(1, _LEAST, self.n_passes + 1)
        level = float(levels[self.number])
        return level, level - (1 - _LEAST) / self.n_passes


def take_turns(draft: Draft, decoding: Decoding, family: Family) -> Iterator[Turn]:
    """Yield, pass by pass, what may be decided, until nothing is left.

    With a block size the canvas is decided from left to right, a block at a time. The
    canvas may grow and shrink between two passes.
    """
    block = decoding.block or len(draft) or 1
    n_blocks = -(-len(draft) // block)
    steps = max(1, -(-decoding.steps // n_blocks)) if n_blocks else 1
    start = 0
    while start < len(draft):
        schedule: Iterator[int] = iter(())
        inside = _window(draft, start, decoding)
        n_masks = int((draft.masked & inside).sum())
        if decoding.steps:
            # A pass that would commit nothing would change nothing.
            schedule = filter(None, SCHEDULES[family.schedule](n_masks, steps))
        n_passes, number = steps if decoding.steps else n_masks, 0
        while True:
            inside = _window(draft, start, decoding)
            masked = draft.masked & inside
            if not masked.any():
                break
            yield Turn(inside, masked, next(schedule, 0), number, n_passes)
            number += 1
        start += block if decoding.block else max(1, len(draft))


def _window(draft: Draft, start: int, decoding: Decoding) -> Tensor:
    places = torch.arange(len(draft))
    end = start + decoding.block if decoding.block else len(draft)
    return (places >= start) & (places < end)
