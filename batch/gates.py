"""The gates a target's text must pass; each names itself, in this order.

empty       the model wrote nothing that can stand there
match       the recipe wants another form
unchanged   not a fault: the text is what was there
parse       the file would parse worse
outside     code around the target would come to mean something else
confidence  the model is less sure than --min-confidence asks for
window      the context does not fit the model
room        the text goes on where its room ends
together    the accepted targets of a file parse one by one but not all at once
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from niello.infill.parse import Parsed, replace

from .recipe import HoleRule, Step
from .targets import Target


class Judged(NamedTuple):
    """A target's whole text, and the gate that refused it or an empty string."""

    gate: str
    text: str


def judge(
    parsed: Parsed, target: Target, step: Step, fills: Mapping[int, str]
) -> Judged:
    """Put the fills in their places and hold the result against the gates."""
    template = target.template
    text = template.with_fills(fills)
    if any(not fills.get(number) for number in range(len(template.holes))):
        return Judged("empty", text)
    for number, name in enumerate(template.holes):
        rule = step.holes.get(name, HoleRule())
        if rule.match and not re.fullmatch(rule.match, fills[number], re.DOTALL):
            return Judged("match", text)
    if text == parsed.text[target.start : target.end]:
        return Judged("unchanged", text)
    after = replace(parsed, target.start, target.end, text)
    if parsed.tree is not None and after.tree is None:
        return Judged("parse", text)
    if len(after.broken) > len(parsed.broken):
        return Judged("parse", text)
    if not _keeps_outside(parsed, after, target, len(text)):
        return Judged("outside", text)
    return Judged("", text)


def _keeps_outside(before: Parsed, after: Parsed, target: Target, length: int) -> bool:
    """Tell whether the tokens on both sides still are what they were, where they were.

    A fill that ends in a comment sign, closes a bracket too many or opens a scope can
    parse well and yet take its neighbours into something else; their ancestors tell.
    """
    text = before.text
    left = len(text[: target.start].rstrip()) - 1
    right = target.end + len(text[target.end :]) - len(text[target.end :].lstrip())
    shift = length - (target.end - target.start)
    places = [(left, left)] if left >= 0 else []
    if right < len(text):
        places.append((right, right + shift))
    for old, new in places:
        path = _path(before, old)
        if "ERROR" not in path and path != _path(after, new):
            return False
    return True


def _path(parsed: Parsed, offset: int) -> list[str]:
    return [node.type for node in parsed.ancestors(offset, offset + 1)]
