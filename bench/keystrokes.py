"""Times of one keystroke without a model: reparse, span and canvas."""

import random
import statistics
import time
from itertools import pairwise
from typing import NamedTuple

from niello.infill.lines import lead
from niello.infill.parse import Parsed, parse
from niello.infill.propose import Options, draw_canvas
from niello.infill.span import find_span

_TYPED = "total = other(value, 1)"


class Times(NamedTuple):
    """Milliseconds of the parts of a keystroke, each sorted."""

    reparse: list[float]
    span: list[float]
    canvas: list[float]
    whole: list[float]


def time_keystrokes(text: str, language: str, n_keys: int, seed: int = 0) -> Times:
    """Type a statement under random lines and time what each key costs.

    The time is that of the thread, so that a busy machine does not count.
    """
    rng = random.Random(seed)
    parsed = parse(text, language)
    rows: list[tuple[float, float, float]] = []
    while len(rows) < n_keys:
        line = rng.randrange(1 + text.count("\n"))
        cursor = _line_end(text, line)
        start = text.rfind("\n", 0, cursor) + 1
        for sign in ("\n", lead(text[start:cursor]), *_TYPED):
            if sign == ")":
                cursor += 1  # It came with its opener, as editors do it.
                continue
            parsed, cursor, row = _type(parsed, cursor, sign)
            rows.append(row)
        text = parsed.text
    reparse, span, canvas = (sorted(part) for part in zip(*rows, strict=True))
    return Times(reparse, span, canvas, sorted(sum(row) for row in rows))


def median(times: list[float]) -> float:
    """Return the middle of sorted times."""
    return statistics.median(times)


def most(times: list[float], share: float = 0.99) -> float:
    """Return the time that a share of sorted times does not exceed."""
    return times[min(len(times) - 1, int(share * len(times)))]


def _type(
    parsed: Parsed, cursor: int, sign: str
) -> tuple[Parsed, int, tuple[float, float, float]]:
    closer = ")" if sign == "(" else ""
    text = parsed.text[:cursor] + sign + closer + parsed.text[cursor:]
    cursor += len(sign)
    clock = [time.thread_time()]
    parsed = parse(text, parsed.name, parsed)
    clock.append(time.thread_time())
    span = find_span(parsed, cursor)
    clock.append(time.thread_time())
    draw_canvas(parsed, span, Options(), cursor - span.start)
    clock.append(time.thread_time())
    first, second, third = (1000 * (end - start) for start, end in pairwise(clock))
    return parsed, cursor, (first, second, third)


def _line_end(text: str, line: int) -> int:
    offset = 0
    for _ in range(line):
        offset = text.index("\n", offset) + 1
    end = text.find("\n", offset)
    return len(text) if end < 0 else end
