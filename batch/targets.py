"""Where a step writes: the targets of one file, from its original text alone.

Offsets are code points of the file as it was before the step. Targets never overlap:
of two that do, the one that begins first, or else the longer one, is kept.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from niello.grammars.catalogue import query_text
from niello.infill.errors import SettingsError
from niello.infill.lines import lead, line_break, line_end, line_start
from niello.infill.parse import Node, Parsed
from niello.infill.query import Match, matches, name_of

from .pattern import find_pattern
from .recipe import Find, Marker, Pattern, Places, Query, Select, Step
from .template import WHOLE, Template, bind, parse_template

_BODIES = ("function.inner", "class.inner")


class Target(NamedTuple):
    """A stretch of a file and what takes its place."""

    start: int
    end: int
    template: Template  # metavariables already bound
    name: str = ""  # captured as such, else that of the function or class around
    hint: str = ""  # a comment the model sees and the file does not get
    shared: tuple[int, int] | None = None  # whole lines of a list with further targets


_SHARED = 1200  # most code points of such lines


class _Place(NamedTuple):
    """A target before its template is bound."""

    start: int
    end: int
    captures: dict[str, str]
    hint: str = ""


def find_targets(step: Step, path: Path, parsed: Parsed) -> list[Target]:
    """Return a step's targets in a file, in the order of the text."""
    template = parse_template(step.rewrite) if step.rewrite else WHOLE
    targets: list[Target] = []
    places = sorted(
        _places(step.find, path, parsed), key=lambda place: (place.start, -place.end)
    )
    for place in places:
        if targets and place.start < targets[-1].end:
            continue
        if targets and place.start == targets[-1].start:
            continue  # An empty target twice at one place.
        name = _name(parsed, place)
        old = parsed.text[place.start : place.end]
        if step.name and not re.search(step.name, name):
            continue
        if step.unless and re.search(step.unless, old):
            continue
        bound = bind(
            template,
            place.captures | {"fill": old},
            lead(parsed.text[line_start(parsed.text, place.start) : place.start]),
            line_break(parsed.text, place.start),
        )
        targets.append(Target(place.start, place.end, bound, name, place.hint))
    lists = [_lines_of_list(parsed, target) for target in targets]
    n_targets = Counter(lists)
    return [
        target._replace(shared=lines) if n_targets[lines] > 1 else target
        for target, lines in zip(targets, lists, strict=True)
    ]


def _lines_of_list(parsed: Parsed, target: Target) -> tuple[int, int] | None:
    """Return the whole lines of the brackets around a target, None without any."""
    text = parsed.text
    for node in parsed.ancestors(target.start, target.end):
        start = parsed.to_offset(node.start_byte)
        end = parsed.to_offset(node.end_byte)
        if start < target.start and target.end < end and text[start] in "([{":
            lines = line_start(text, start), line_end(text, end)
            return lines if lines[1] - lines[0] <= _SHARED else None
    return None


def _name(parsed: Parsed, place: _Place) -> str:
    """Return what the step captured as the name, else that of what is around."""
    for capture in ("name", "NAME", "assignment.lhs"):
        if name := place.captures.get(capture):
            return name.strip("\"'")
    return name_of(parsed, place.start, place.end)


def _places(find: Find, path: Path, parsed: Parsed) -> Iterator[_Place]:
    match find:
        case Query(source):
            yield from _captured(parsed, source, "fill")
        case Select(name):
            yield from _selected(parsed, name)
        case Pattern(source):
            for found in find_pattern(parsed.text, parsed.name, source):
                yield _Place(found.start, found.end, found.captures)
        case Marker(texts):
            yield from _marked(parsed, texts)
        case Places(places):
            for place in places:
                if path.resolve() == place.path.resolve():
                    start = offset_of(parsed.text, *place.start)
                    yield _Place(start, offset_of(parsed.text, *place.end), {})


def _captured(parsed: Parsed, source: str, fill: str) -> Iterator[_Place]:
    """Yield what a query captures as ``fill``; other captures are metavariables."""
    for match in matches(parsed, source):
        if nodes := match.get(fill):
            start, end = _extent(parsed.text, nodes[0].start, nodes[-1].end)
            yield _Place(start, end, _texts(parsed.text, match))


def _texts(text: str, match: Match) -> dict[str, str]:
    return {
        name: text[nodes[0].start : nodes[-1].end]
        for name, nodes in match.items()
        if nodes
    }


def _selected(parsed: Parsed, name: str) -> Iterator[_Place]:
    if parsed.language is None:
        return
    query = query_text(parsed.language, "textobjects")
    if f"@{name}" not in query:
        return
    for place in _captured(parsed, query, name):
        yield _without_braces(parsed, place) if name in _BODIES else place


def _without_braces(parsed: Parsed, place: _Place) -> _Place:
    """Return what stands between the braces of a body: of an empty one, a place."""
    language, body = parsed.language, parsed.text[place.start : place.end]
    braced = body.startswith("{") and body.endswith("}")
    if language is None or language.layout == "indent" or not braced:
        return place
    if language.name == "ruby":
        return place  # Braces there make a value.
    left = 1 + len(body[1:]) - len(body[1:].lstrip())
    right = len(body[:-1].rstrip())
    if left >= right:
        left = right = 1
    return place._replace(start=place.start + left, end=place.start + right)


def _marked(parsed: Parsed, texts: tuple[str, ...]) -> Iterator[_Place]:
    """Yield markers; one in a comment stands for the comment, which says what to do."""
    for found in re.finditer("|".join(map(re.escape, texts)), parsed.text):
        comment = _comment_at(parsed, found.start())
        if comment is None:
            yield _Place(found.start(), found.end(), {})
        else:
            start, end = _extent(parsed.text, comment.start, comment.end)
            yield _Place(start, end, {}, hint=parsed.text[start:end])


def _comment_at(parsed: Parsed, offset: int) -> Node | None:
    leaf = parsed.leaf(offset)
    return leaf if leaf is not None and "comment" in leaf.name else None


def _extent(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out the line end that some grammars count to their nodes."""
    return start, start + len(text[start:end].rstrip())


def offset_of(text: str, line: int, column: int) -> int:
    r"""Return the offset of a place that counts from 1; lines end at \n, \r\n, \r."""
    starts = [0] + [found.end() for found in re.finditer(r"\r\n|\n|\r", text)]
    if not 1 <= line <= len(starts):
        raise SettingsError(f"--at: there is no line {line}, the last is {len(starts)}")
    start = starts[line - 1]
    end = starts[line] if line < len(starts) else len(text)
    length = len(text[start:end].rstrip("\r\n"))
    if not 1 <= column <= length + 1:
        raise SettingsError(f"--at: line {line} has no column {column}")
    return start + column - 1


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of an offset, both from 1."""
    ends = [found.end() for found in re.finditer(r"\r\n|\n|\r", text[:offset])]
    return len(ends) + 1, offset - (ends[-1] if ends else 0) + 1
