"""Next edit by remasking: what a change calls into question is masked and filled anew.

Where a name became another, that is where the old one still stands; where a list of
parameters changed, the lists of arguments. If nothing comes of these, the text around
the change is scored as it was and as it is, and what lost most of its probability,
although it was likely before, is masked. Scoring runs forward, so only what stands
behind the change is found by it. A fill is offered if it says something else, and says
so because of the change: in the text as it was, the model writes what was there.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from niello.infill.canvas import Filler, StopFlag
from niello.infill.lines import line_end
from niello.infill.parse import Parsed, parse, replace
from niello.infill.propose import Options, propose_in
from niello.infill.select import node_span

from .edits import Edit
from .places import (
    LONGEST,
    Change,
    Place,
    changed_name,
    find_calls,
    find_uses,
    is_name,
    lines_away,
)
from .settings import NextEdit as Rules

_MOST_TRIED = 4  # places that are filled for one change because they fell
_LIKELY = -2.0  # nats; what was less likely before tells nothing by its fall
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

    def score(self, text: str, start: int, stop: StopFlag) -> Sequence[Scored]:
        """Return the tokens of ``text`` from ``start`` on, but for its first."""
        ...


class Fall(NamedTuple):
    """A token behind the change, and how much of its log-probability it lost."""

    start: int  # in the text after the change
    end: int
    nats: float


def carry_on(
    parsed: Parsed,
    change: Change,
    scorer: Scorer,
    rules: Rules,
    options: Options,
    stop: StopFlag,
) -> list[Edit]:
    """Return edits of the text after the change that carry it on; often none."""
    before = parse(change.before, parsed.name, parsed)

    def refill(text: Parsed, start: int, end: int) -> str:
        return _refill(text, start, end, scorer, options, stop)

    def is_news(place: Place, now: str) -> bool:
        """Whether the model says ``now`` because of the change, and not anyway."""
        shift = len(change.before) - len(change.after)
        shift = shift if place.start >= change.new_end else 0
        was = Place(place.start + shift, place.end + shift)
        old = before.text[was.start : was.end]
        return now != old and refill(before, *was) == old

    if name := changed_name(before, parsed, change):
        uses = find_uses(parsed, rules.reach, *name)
        edits = _fill_all(parsed, uses, refill, lambda _, now: now == name.new)
    else:
        calls = find_calls(parsed, change, rules.reach)
        edits = _fill_all(parsed, calls, refill, is_news)
    if edits:
        return edits
    tried: list[Place] = []
    for fall in find_falls(change, scorer, rules, stop):
        for place in _places(parsed, fall):
            if place in tried:
                continue
            if len(tried) == _MOST_TRIED or stop():
                return []
            tried.append(place)
            if edits := _fill_all(parsed, [place], refill, is_news):
                return edits
    return []


def find_falls(
    change: Change, scorer: Scorer, rules: Rules, stop: StopFlag
) -> list[Fall]:
    """Return the tokens that the change made unlikely, the deepest fall first."""
    first = lines_away(change.after, change.start, -rules.reach)
    last = lines_away(change.after, change.new_end, rules.reach)
    grown = len(change.after) - len(change.before)
    near = line_end(change.after, change.new_end) - first
    old = scorer.score(change.before[first : last - grown], near - grown, stop)
    new = scorer.score(change.after[first:last], near, stop)
    # Tokens behind the change are the same in both texts, but for where they stand.
    was = {(each.start + grown, each.end + grown): each.log_probability for each in old}
    falls = []
    for each in new:
        before = was.get((each.start, each.end), float("-inf"))
        fall = before - each.log_probability
        if each.start > near and before > _LIKELY and fall >= rules.min_drop:
            falls.append(Fall(each.start + first, each.end + first, fall))
    return sorted(falls, key=lambda fall: -fall.nats)


def _places(parsed: Parsed, fall: Fall) -> list[Place]:
    """Return the nodes that a fallen token may mean.

    The name in front of it, which was expected to go on; the name it is in; of a
    closing bracket, what it closes.
    """
    text = parsed.text
    start = fall.start
    places = []
    leaf = parsed.leaf(start - 1)
    if leaf is not None and leaf.end == start and is_name(text[leaf.start : start]):
        places.append(Place(leaf.start, leaf.end))
    while start < fall.end and text[start].isspace():
        start += 1
    leaf = parsed.leaf(start) if start < fall.end else None
    if leaf is not None and is_name(text[leaf.start : leaf.end]):
        places.append(Place(leaf.start, leaf.end))
    lists = [
        node
        for node in parsed.captures("spans", start, start + 1)
        if node.name == "list" and node.start < start == node.end - 1
    ]
    if lists and lists[-1].end - lists[-1].start <= LONGEST:
        places.append(Place(lists[-1].start + 1, lists[-1].end - 1))
    return places


def _fill_all(
    parsed: Parsed,
    places: Sequence[Place],
    refill: Callable[[Parsed, int, int], str],
    fits: Callable[[Place, str], bool],
) -> list[Edit]:
    """Fill places in their order; each sees what became of those before it."""
    edits: list[Edit] = []
    shift = 0
    for place in places:
        start, end = place.start + shift, place.end + shift
        now = refill(parsed, start, end)
        if now != parsed.text[start:end] and fits(place, now):
            parsed = replace(parsed, start, end, now)
            edits.append(Edit(place.start, place.end, now))
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
    if best is None or best.score < _SURE or len(best.text) > len(old) + LONGEST:
        return old
    return old if "\n" in best.text or "\r" in best.text else best.text
