"""What a change names: the text it replaced, and where the same name stands elsewhere.

Nothing here asks a model; what it finds is only worth asking about.
"""

import re
from typing import NamedTuple

from niello.infill.lines import common_head, common_tail, line_end, line_start
from niello.infill.parse import Node, Parsed

LONGEST = 60  # code points of a place, and of its fill
_MOST = 8  # places of one change


class Change(NamedTuple):
    """``before[start:old_end]`` became ``after[start:new_end]``."""

    before: str
    after: str
    start: int
    old_end: int
    new_end: int


class Place(NamedTuple):
    """A stretch ``[start, end)`` of a text that may have to follow a change."""

    start: int
    end: int


class Name(NamedTuple):
    """A name that a change turned into another, and where that one stands."""

    old: str
    new: str
    start: int


def change_between(before: str, after: str) -> Change | None:
    """Return the smallest change that makes one text of the other."""
    if before == after:
        return None
    most = min(len(before), len(after))
    start = common_head(before, after, most)
    tail = common_tail(before, after, most - start)
    return Change(before, after, start, len(before) - tail, len(after) - tail)


def changed_name(before: Parsed, after: Parsed, change: Change) -> Name | None:
    """Return the name that a change is about, if it only turned it into another."""
    for offset in (change.start, max(change.start - 1, 0)):
        was, now = before.leaf(offset), after.leaf(offset)
        if was is None or now is None or was.start != now.start:
            continue
        old, new = before.text[was.start : was.end], after.text[now.start : now.end]
        if change.old_end > was.end or change.new_end > now.end:
            continue
        if old != new and is_name(old) and is_name(new):
            return Name(old, new, now.start)
    return None


def find_uses(
    parsed: Parsed, reach: int, old: str, new: str, start: int
) -> list[Place]:
    """Return where a name that was changed at ``start`` is still the old one.

    A name of a function's own is looked for in that function alone.
    """
    text = parsed.text
    first = lines_away(text, start, -reach)
    last = lines_away(text, start, reach)
    function = _innermost(parsed, start, start + len(new), ("function",))
    of_object = _is_of_object(text, start)
    if function and not of_object and "(" in text[function.start : start]:
        first, last = max(first, function.start), min(last, function.end)
    found = re.compile(rf"\b{re.escape(old)}\b").finditer(text, first, last)
    uses = [
        Place(*each.span())
        for each in found
        if _is_of_object(text, each.start()) == of_object
        and (leaf := parsed.leaf(each.start()))
        and (leaf.start, leaf.end) == each.span()
    ]
    return uses[:_MOST]


def find_calls(parsed: Parsed, change: Change, reach: int) -> list[Place]:
    """Return the arguments of calls of the function whose parameters changed."""
    text = parsed.text
    own = _innermost(parsed, change.start - 1, change.new_end + 1, ("list",))
    if own is None or text[own.start] != "(":
        return []
    part = _innermost(parsed, own.start, own.end, ("function", "block"))
    name = parsed.leaf(own.start - 1)
    if part is None or part.name == "block" or name is None or name.end != own.start:
        return []
    called = text[name.start : name.end]
    if not is_name(called):
        return []
    first = lines_away(text, change.start, -reach)
    last = lines_away(text, change.new_end, reach)
    calls = []
    for each in re.compile(rf"\b{re.escape(called)}(?=\()").finditer(text, first, last):
        start = each.end()
        ends = [
            node.end
            for node in parsed.captures("spans", start, start + 1)
            if node.name == "list" and node.start == start != own.start
        ]
        if ends and ends[0] - start <= LONGEST:
            calls.append(Place(start + 1, ends[0] - 1))
    return calls[:_MOST]


def _innermost(
    parsed: Parsed, start: int, end: int, names: tuple[str, ...]
) -> Node | None:
    """Return the smallest node of some names that covers ``[start, end)``."""
    return max(
        (
            node
            for node in parsed.captures("spans", start, end)
            if node.name in names and node.start <= start and end <= node.end
        ),
        key=lambda node: (node.start, -node.end),
        default=None,
    )


def _is_of_object(text: str, start: int) -> bool:
    return text.endswith((".", "->"), 0, start)


def is_name(text: str) -> bool:
    """Whether a text is one word."""
    return len(text) <= LONGEST and re.fullmatch(r"\w+", text) is not None


def lines_away(text: str, offset: int, n_lines: int) -> int:
    """Return where the line starts that is ``n_lines`` from that of ``offset``."""
    for _ in range(abs(n_lines)):
        if n_lines < 0:
            offset = line_start(text, max(line_start(text, offset) - 1, 0))
        else:
            offset = min(line_end(text, offset) + 1, len(text))
    return offset
