"""How many masks a canvas gets, where the model does not find the length by itself.

A policy answers once, before the first pass that commits; `search` may ask for passes
of its own. Every measurement names the policy it was made with.
"""

import math
import re
from collections.abc import Callable, Generator
from statistics import median

from niello.infill.canvas import Canvas
from niello.infill.context import Count

POLICIES = ("blocks", "expand", "shrink", "search", "fixed", "nearby")
"""Block by block until an end token; start short and let the model expand and delete;
start long and let it delete; look for the length the first pass is surest of; a given
number of masks; as long as similar constructs nearby."""

Probe = Generator[int, float, int]
"""Asks for the mean confidence of a first pass at a length, returns the length."""


def search(
    start: int,
    most: int,
    step: int = 1,
    patience: int = 4,
    budget: int = 32,
    bias: Callable[[int], float] | None = None,
) -> Probe:
    """Climb from ``start`` in both directions to the length of the highest confidence.

    A direction ends after ``patience`` lengths in a row that are no better; ``budget``
    is the most passes. Confidence falls with length whatever the text, so it is divided
    by that habit first (CAL, arXiv 2602.00476).
    """
    bias = bias or length_bias
    start = max(1, min(start, most))
    best, best_length = (yield start) / bias(start), start
    n_passes = 1
    for direction in (step, -step):
        length, n_worse = start + direction, 0
        while 1 <= length <= most and n_worse < patience and n_passes < budget:
            confidence = (yield length) / bias(length)
            n_passes += 1
            n_worse += 1
            if confidence > best:
                best, best_length, n_worse = confidence, length, 0
            length += direction
    return best_length


def length_bias(n_masks: int) -> float:
    """Return the mean first-pass confidence to expect of a length.

    The two exponentials that the paper fits for 8B models on held-out code.
    """
    return math.exp(-1.77 * n_masks) + 0.56 * math.exp(-0.06 * n_masks) + 0.24


def nearby(canvas: Canvas, count: Count, default: int = 16) -> int:
    """Return about how many tokens similar constructs nearby have.

    Similar is a line that starts like the canvas's own, else any line of the same
    indentation; what is already typed is taken off.
    """
    given = canvas.given.rpartition("\n")[2]
    indent = given[: len(given) - len(given.lstrip())]
    text = canvas.context.prefix + "\n" + canvas.context.suffix
    lines = [line for line in text.splitlines() if line.strip()][-200:]
    first = re.match(r"\s*\w*", given)
    start = first.group() if first else ""
    alike = [line for line in lines if start.strip() and line.startswith(start)]
    level = [line for line in lines if _indent(line) == indent]
    lengths = [count(line.strip()) for line in alike or level]
    if not lengths:
        return min(default, canvas.room)
    left = math.ceil(median(lengths)) - count(given.strip())
    return max(1, min(left, canvas.room))


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
