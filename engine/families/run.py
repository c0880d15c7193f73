"""Runs the jobs of several canvases together: one pass of the model serves them all.

A job is a generator. It asks for a pass over some rows, is sent the logits of the rows
it wanted, and returns its fill; so each family's loop reads as if it were alone, and a
batch is no different from its single canvases.
"""

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from niello.infill.canvas import Fill, StopFlag

from .cache import Cache
from .decoder import Rows


class Model(Protocol):
    """What a job's rows are given to."""

    @property
    def device(self) -> torch.device:
        """Where logits lie."""
        ...

    def new_cache(self) -> Cache:
        """Return an empty cache."""
        ...

    def forward(self, batch: Sequence[Rows]) -> Tensor:
        """Return hidden states ``(all rows, width)``."""
        ...

    def logits(self, hidden: Tensor) -> Tensor:
        """Return ``(rows, vocabulary)``."""
        ...


class Ask(NamedTuple):
    """A pass wanted: its rows, and from which row on the logits are of interest."""

    rows: Rows
    first: int = 0


Job = Generator[Ask, Tensor, Fill]


class Stopped(Exception):
    """Thrown into a job when nobody waits for its fill any more."""


class Seen(NamedTuple):
    """A canvas between two passes, for those who watch."""

    token_ids: Sequence[int]
    masked: Sequence[bool]
    log_probabilities: Sequence[float]  # of each committed token, 0 where masked
    forwards: int


Watch = Callable[[Seen], None]


def run(model: Model, jobs: Sequence[Job], stop: StopFlag) -> list[Fill]:
    """Drive all jobs to their fills; the flag is read between passes."""
    fills: dict[int, Fill] = {}
    asks: dict[int, Ask] = {}
    for number, job in enumerate(jobs):
        _advance(number, partial(next, job), asks, fills)
    while asks:
        numbers = list(asks)
        if stop():
            for number in numbers:
                job = jobs[number]
                _advance(number, partial(job.throw, Stopped()), asks, fills)
            continue
        hidden = model.forward([asks[number].rows for number in numbers])
        parts = torch.split(hidden, [len(asks[n].rows.token_ids) for n in numbers])
        wanted = [
            part[asks[number].first :]
            for part, number in zip(parts, numbers, strict=True)
        ]
        logits = torch.split(model.logits(torch.cat(wanted)), [len(w) for w in wanted])
        for number, answer in zip(numbers, logits, strict=True):
            _advance(number, partial(jobs[number].send, answer), asks, fills)
    return [fills[number] for number in range(len(jobs))]


def _advance(
    number: int,
    go_on: Callable[[], Ask],
    asks: dict[int, Ask],
    fills: dict[int, Fill],
) -> None:
    try:
        asks[number] = go_on()
    except StopIteration as done:
        asks.pop(number, None)
        fills[number] = done.value
