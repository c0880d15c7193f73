"""Next edit by remasking: where a change makes the text behind it unlikely, fill anew.

The text around a change is scored as it was and as it is. What lost most of its
probability, although it was likely before, is where the change has to be carried on; it
is masked, filled and offered if the fill says something else. Scoring runs forward, so
only what stands behind the change is found.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from niello.infill.canvas import Filler, StopFlag
from niello.infill.lines import line_end, line_start
from niello.infill.parse import Parsed, replace
from niello.infill.propose import Options, propose_in
from niello.infill.select import node_span

from .edits import Edit
from .settings import NextEdit as Rules

_MOST_TRIED = 4  # places that are filled for one change
_LIKELY = -2.0  # nats; what was less likely before tells nothing by its fall
_LONGEST = 60  # code points of a place, and of its fill
_SURE = -0.7  # nats a token; a fill with less confidence is not offered


class Scored(Protocol):
    """A token of scored text: its range in code points and its log-probability."""

    @property
    def start(self) -> int:
        """Where it starts."""
        ...

    @property
    def end(self) -> int:
        """Where it ends."""
        ...

    @property
    def log_probability(self) -> float:
        """How likely it is after the text before it, in nats."""
        ...


@runtime_checkable
class Scorer(Filler, Protocol):
    """An engine that also tells how likely a text is."""

    def score(self, text: str, stop: StopFlag) -> Sequence[Scored]:
        """Return the tokens of ``text``, but for the first, in their order."""
        ...


class Change(NamedTuple):
    """``before[start:old_end]`` became ``after[start:new_end]``."""

    before: str
    after: str
    start: int
    old_end: int
    new_end: int


class Fall(NamedTuple):
    """A token behind the change, and how much of its log-probability it lost."""

    start: int  # in the text after the change
    end: int
    nats: float


def change_between(before: str, after: str) -> Change | None:
    """Return the smallest change that makes one text of the other."""
    if before == after:
        return None
    most = min(len(before), len(after))
    start = _common(before, after, most)
    tail = _common(before[::-1], after[::-1], most - start)
    return Change(before, after, start, len(before) - tail, len(after) - tail)


def carry_on(
    parsed: Parsed,
    change: Change,
    scorer: Scorer,
    rules: Rules,
    options: Options,
    stop: StopFlag,
) -> list[Edit]:
    """Return edits of the text after the change that carry it on; often none."""
    tried: list[tuple[int, int]] = []
    for fall in find_falls(change, scorer, rules, stop):
        for place in _places(parsed, fall):
            if place in tried:
                continue
            if len(tried) == _MOST_TRIED or stop():
                return []
            tried.append(place)
            old = parsed.text[place[0] : place[1]]
            if _refill(parsed, *place, scorer, options, stop) != old:
                places = [place, *_twins(parsed, change, rules, place)]
                return _refill_all(parsed, sorted(places), scorer, options, stop)
    return []


def find_falls(
    change: Change, scorer: Scorer, rules: Rules, stop: StopFlag
) -> list[Fall]:
    """Return the tokens that the change made unlikely, the deepest fall first."""
    first = _lines_away(change.after, change.start, -rules.reach)
    last = _lines_away(change.after, change.new_end, rules.reach)
    grown = len(change.after) - len(change.before)
    old = scorer.score(change.before[first : last - grown], stop)
    new = scorer.score(change.after[first:last], stop)
    # Tokens behind the change are the same in both texts, but for where they stand.
    was = {(each.start + grown, each.end + grown): each.log_probability for each in old}
    near = line_end(change.after, change.new_end) - first
    falls = []
    for each in new:
        before = was.get((each.start, each.end), float("-inf"))
        fall = before - each.log_probability
        if each.start > near and before > _LIKELY and fall >= rules.min_drop:
            falls.append(Fall(each.start + first, each.end + first, fall))
    return sorted(falls, key=lambda fall: -fall.nats)


def _places(parsed: Parsed, fall: Fall) -> list[tuple[int, int]]:
    """Return the nodes that a fallen token may mean.

    The name in front of it, which was expected to go on; the name it is in; of a
    closing bracket, what it closes.
    """
    text = parsed.text
    start = fall.start
    places = []
    leaf = parsed.leaf(start - 1)
    if leaf is not None and leaf.end == start and _is_name(text[leaf.start : start]):
        places.append((leaf.start, leaf.end))
    while start < fall.end and text[start].isspace():
        start += 1
    leaf = parsed.leaf(start) if start < fall.end else None
    if leaf is not None and _is_name(text[leaf.start : leaf.end]):
        places.append((leaf.start, leaf.end))
    lists = [
        node
        for node in parsed.captures("spans", start, start + 1)
        if node.name == "list" and node.start < start == node.end - 1
    ]
    if lists and lists[-1].end - lists[-1].start <= _LONGEST:
        places.append((lists[-1].start + 1, lists[-1].end - 1))
    return places


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST and re.fullmatch(r"\w+", text) is not None


def _twins(
    parsed: Parsed, change: Change, rules: Rules, place: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return the other places behind the change that read the same.

    They did not fall: the first of them, still as it was, makes the others likely.
    """
    old = parsed.text[place[0] : place[1]]
    last = _lines_away(parsed.text, change.new_end, rules.reach)
    found = re.compile(rf"\b{re.escape(old)}\b").finditer(
        parsed.text, change.new_end, last
    )
    leaves = {each.span() for each in found if _is_name(old)} - {place}
    return [
        (start, end)
        for start, end in leaves
        if (leaf := parsed.leaf(start)) and (leaf.start, leaf.end) == (start, end)
    ]


def _refill_all(
    parsed: Parsed,
    places: Sequence[tuple[int, int]],
    filler: Filler,
    options: Options,
    stop: StopFlag,
) -> list[Edit]:
    """Fill places in their order; each sees what became of those before it."""
    edits: list[Edit] = []
    shift = 0
    for start, end in places:
        now = _refill(parsed, start + shift, end + shift, filler, options, stop)
        if now != parsed.text[start + shift : end + shift]:
            parsed = replace(parsed, start + shift, end + shift, now)
            edits.append(Edit(start, end, now))
            shift += len(now) - (end - start)
    return edits


def _refill(
    parsed: Parsed,
    start: int,
    end: int,
    filler: Filler,
    options: Options,
    stop: StopFlag,
) -> str:
    """Return what the place becomes; its old text if nothing surer is found."""
    old = parsed.text[start:end]
    draft = replace(parsed, start, end, "")
    found = propose_in(draft, node_span(draft, start, start), filler, options, stop)
    best = found[0] if found else None
    if best is None or best.score < _SURE or len(best.text) > len(old) + _LONGEST:
        return old
    return old if "\n" in best.text or "\r" in best.text else best.text


def _lines_away(text: str, offset: int, n_lines: int) -> int:
    for _ in range(abs(n_lines)):
        if n_lines < 0:
            offset = line_start(text, max(line_start(text, offset) - 1, 0))
        else:
            offset = min(line_end(text, offset) + 1, len(text))
    return offset


def _common(one: str, other: str, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
