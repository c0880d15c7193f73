"""Where to fill: the stretch of a document that a candidate replaces."""

from typing import NamedTuple


class Span(NamedTuple):
    """A half-open range of code points ``[start, end)`` that a candidate replaces."""

    start: int
    end: int
    kind: str
    indent: str  # white space in front of the span's first line
