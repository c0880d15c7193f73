"""How long an automatic request waits before it becomes work.

A request that the next keystroke will make worthless should not begin. So the wait is
long while keys come in a burst, and short for somebody who types thoughtfully, begins a
new line or has just opened a bracket.
"""

_BURST = 8  # gaps shorter than this many base waits are a burst
_SMOOTH = 0.5  # weight of the newest gap
_PAUSE = 1.0  # seconds; a longer gap says nothing about the rhythm
_OPENERS = "\n.([{=,:"


class Debounce:
    """The rhythm of typing in one document; times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        """Begin without a rhythm."""
        self._last = 0.0
        self._gap = _PAUSE

    def typed(self, now: float) -> None:
        """Take note of a change."""
        gap = min(now - self._last, _PAUSE)
        self._gap += _SMOOTH * (gap - self._gap)
        self._last = now

    def wait(self, base: float, before: str) -> float:
        """Return the seconds to wait; ``before`` is the text in front of the cursor."""
        burst = max(_BURST * base - self._gap, 0.0)
        stripped = before.rstrip(" \t")
        ready = stripped == "" or stripped[-1] in _OPENERS
        return (base / 2 if ready else base) + burst
