"""What other files say about the place of a span: their most similar stretches.

Stretches of lines are compared by the words they share (Jaccard), as in RepoCoder
(arXiv 2303.12570, section 3). The lines compared with move in steps, so that the
outcome stays the same, and a model's cache good, while a line is typed.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from .context import Count, estimate
from .lines import to_line_feeds

_LINES = 20  # of a stretch
_STEP = 10  # lines between two stretches, and between two places compared
_LEAST = 0.1  # likeness below which a stretch is of no help
_WORD = re.compile(r"[A-Za-z_]\w{2,}")


class Source(NamedTuple):
    """Another open or recently edited file, by the name to show."""

    name: str
    text: str


class _Stretch(NamedTuple):
    likeness: float
    recency: int  # 0 for the source given first
    start: int  # line
    source: Source
    lines: list[str]


def find_similar(
    text: str,
    offset: int,
    sources: Sequence[Source],
    budget: int = 256,
    count: Count = estimate,
) -> str:
    """Return the stretches of other files most like the lines at ``offset``.

    ``sources`` come in order of recency. Each stretch has its file's name in front.
    """
    words = _words(_page(text, offset))
    if not words:
        return ""
    found = [
        stretch
        for recency, source in enumerate(sources)
        for stretch in _stretches(source, recency, words)
    ]
    found.sort(key=lambda each: (-each.likeness, each.recency, each.start))
    parts: list[str] = []
    taken: set[str] = set()
    for stretch in found:
        part = f"{stretch.source.name}\n" + "\n".join(stretch.lines) + "\n"
        if stretch.source.name in taken or count(part) > budget:
            continue
        budget -= count(part)
        taken.add(stretch.source.name)
        parts.append(part)
    return "".join(reversed(parts))  # The most similar stands nearest to the prefix.


def _page(text: str, offset: int) -> list[str]:
    """Return whole lines above the offset, the same ones for a step of lines."""
    lines = to_line_feeds(text[:offset]).split("\n")[:-1]
    end = len(lines) - len(lines) % _STEP
    return lines[max(0, end - _LINES) : end] or lines


def _stretches(source: Source, recency: int, words: set[str]) -> list[_Stretch]:
    lines = to_line_feeds(source.text).split("\n")
    found = []
    for start in range(0, max(1, len(lines) - _STEP), _STEP):
        part = lines[start : start + _LINES]
        own = _words(part)
        likeness = len(own & words) / max(1, len(own | words))
        if likeness >= _LEAST:
            found.append(_Stretch(likeness, recency, start, source, part))
    return found


def _words(lines: Sequence[str]) -> set[str]:
    return set(_WORD.findall("\n".join(lines)))
