"""How many threads compute a pass: all, or fewer while others need the cores.

The threads of a pass wait for each other after every map, so one that shares its core
with a compiler holds up all of them. It shows in how busy they are: they wait without
sleeping, so as long as each has a core to itself they are busy all the time.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

_WINDOW = 0.1  # seconds after which it is told how busy threads were
_BUSY = 0.8  # share of the time for which they are, at least, if undisturbed
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0  # seconds until more are tried again


class Threads:
    """Halves the number of threads when they are disturbed, and tries more later."""

    def __init__(
        self,
        n_most: int,
        clock: Callable[[], float] = time.perf_counter,
        busy: Callable[[], float] = time.process_time,
    ) -> None:
        """Begin with ``n_most``; ``busy`` counts the seconds of all threads."""
        self.n = n_most
        self._n_most = n_most
        self._clock, self._busy = clock, busy
        self._spent = self._worked = 0.0  # seconds in this window, and those of threads
        self._pause = _FIRST_PAUSE
        self._more_from = 0.0  # when more are tried

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Compute with the number that is right now, and see how it goes."""
        start = self._clock()
        if self.n < self._n_most and not self._spent and start >= self._more_from:
            self.n = min(2 * self.n, self._n_most)
        if torch.get_num_threads() != self.n:
            torch.set_num_threads(self.n)
        worked = self._busy()
        try:
            yield
        finally:
            self._worked += self._busy() - worked
            self._spent += self._clock() - start
            if self._spent >= _WINDOW:
                self._judge()

    def _judge(self) -> None:
        """Take fewer threads if these were disturbed."""
        share = self._worked / (self._spent * self.n)
        self._spent = self._worked = 0.0
        if self.n > 1 and share < _BUSY:
            self.n //= 2
            self._more_from = self._clock() + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        elif self.n == self._n_most:
            self._pause = _FIRST_PAUSE
