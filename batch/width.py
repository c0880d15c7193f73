"""How many canvases go to the engine in one call.

A wider batch is faster until the processor is full, which depends on the machine, the
model and the lengths at hand; so the width is found by doubling while that pays.
"""

_FIRST = 16
_WIDEST = 32  # each canvas holds its own keys and values, some 15 MB of them
_GAIN = 1.05  # what a doubling must bring to be kept


class Width:
    """The width of the next batch, fixed or found from what past ones took."""

    def __init__(self, fixed: int | None = None) -> None:
        """Keep to ``fixed``; None finds the width, beginning with 16."""
        self.now = fixed or _FIRST
        self._settled = fixed is not None
        self._rates: dict[int, list[float]] = {}

    def record(self, n_canvases: int, n_tokens: int, seconds: float) -> None:
        """Learn from a batch that was filled."""
        if self._settled or n_canvases < self.now or seconds <= 0:
            return
        rates = self._rates.setdefault(self.now, [])
        rates.append((n_tokens or n_canvases) / seconds)
        # The first call of a width may hold warm-up, so a second one is waited for.
        if len(rates) < 2:
            return
        before = max(self._rates.get(self.now // 2, [0.0]))
        if max(rates) < before * _GAIN:
            self.now //= 2
            self._settled = True
        elif self.now == _WIDEST:
            self._settled = True
        else:
            self.now *= 2
