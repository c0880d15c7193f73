"""Changes to real Python code, and what the rest of the text must become by them.

A case is a text in which one thing was changed where it is declared and nowhere else,
and the places that have to follow. Names are those of parameters; signatures are those
of functions whose calls, all in sight, say what each parameter gets. A parameter that
is *added* is one that the real code has: it was taken out of the text before, so that
the finished text is the real one.
"""

import ast
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from niello.lsp.edits import Edit
from niello.lsp.places import Change, change_between

from .signatures import MOST_PLACES, Call, Signature, called, cut, offsets, signatures

KINDS = ("renamed", "added", "removed", "reordered")
_NAMES = {"text": "content", "path": "location", "data": "payload", "name": "label"}
_AROUND = 30  # lines before and behind a function whose name is changed


class Case(NamedTuple):
    """A change, and the edits of the text after it that carry it on."""

    kind: str
    change: Change
    places: tuple[Edit, ...]


def cases_of(source: str, seed: int = 0) -> Iterator[Case]:
    """Yield the changes that a file allows, at most one of a kind a signature."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    if not source.isascii() or "\r" in source or "\f" in source:
        return  # Offsets of the tree are then not those of the text.
    yield from _renames(tree, source)
    shuffled = random.Random(seed)
    for signature in signatures(tree, source):
        for make in (_added, _removed, _reordered):
            cases = list(make(signature))
            if cases:
                yield shuffled.choice(cases)


def apply(text: str, edits: Sequence[Edit]) -> str:
    """Return ``text`` with edits that do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _renames(tree: ast.Module, source: str) -> Iterator[Case]:
    """Rename a parameter in its signature alone; of a function of 4 to 41 lines."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.end_lineno is None:
            continue
        if not 3 <= function.end_lineno - function.lineno <= 40:
            continue
        found = cut(
            tree, source, function.lineno - _AROUND, function.end_lineno + _AROUND
        )
        if found is None:
            continue
        text, start = found
        for parameter in function.args.args[:3]:
            old = parameter.arg
            new = _NAMES.get(old, f"{old}_value")
            if old in ("self", "cls") or len(old) < 3 or new in text:
                continue
            first, *others = (
                Edit(place - start, place - start + len(old), new)
                for place in _uses(tree, function, source, old)
            )
            if 1 <= len(others) < MOST_PLACES and others[-1].end < len(text):
                yield from _case("renamed", text, [], first, others)


def _uses(
    tree: ast.Module, function: ast.FunctionDef, source: str, name: str
) -> list[int]:
    """Return where a parameter's name stands: in its function, and in calls."""
    at = offsets(source)
    inside = [
        node
        for node in ast.walk(function)
        if (isinstance(node, ast.Name) and node.id == name)
        or (isinstance(node, ast.arg) and node.arg == name)
    ]
    given = [
        keyword
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node.func) == function.name
        for keyword in node.keywords
        if keyword.arg == name
    ]
    found = [at(node.lineno, node.col_offset) for node in [*inside, *given]]
    first = at(function.lineno, 0)
    return sorted(found, key=lambda place: (place < first, place))


def _added(signature: Signature) -> Iterator[Case]:
    """Take a parameter out of everything, then put it back into the signature."""
    for left_out in _left_out(signature):
        wanted = [
            Edit(call.start, call.end, _arguments(call, range(len(call.given))))
            for call in signature.calls
        ]
        bare = [
            Edit(call.start, call.end, _without(call, left_out))
            for call in signature.calls
        ]
        whole = ", ".join(signature.parameters)
        fewer = ", ".join(_others(signature.parameters, left_out))
        if fewer:
            declared = Edit(signature.start, signature.end, whole)
            first = [*bare, declared._replace(text=fewer)]
            yield from _case("added", signature.text, first, declared, wanted)


def _removed(signature: Signature) -> Iterator[Case]:
    for left_out in _left_out(signature):
        wanted = [
            Edit(call.start, call.end, _without(call, left_out))
            for call in signature.calls
        ]
        fewer = ", ".join(_others(signature.parameters, left_out))
        declared = Edit(signature.start, signature.end, fewer)
        yield from _case("removed", signature.text, [], declared, wanted)


def _reordered(signature: Signature) -> Iterator[Case]:
    for place in range(signature.plain - 1):
        order = list(range(len(signature.parameters)))
        order[place], order[place + 1] = order[place + 1], order[place]
        turned = ", ".join(signature.parameters[each] for each in order)
        wanted = []
        for call in signature.calls:
            n_given = len(call.given)
            by_place = [n for n, (_, text) in enumerate(call.given) if "=" not in text]
            if place + 1 not in by_place:
                break  # What is given by name has no order to follow.
            wanted.append(Edit(call.start, call.end, _arguments(call, order[:n_given])))
        else:
            declared = Edit(signature.start, signature.end, turned)
            yield from _case("reordered", signature.text, [], declared, wanted)


def _case(
    kind: str, text: str, first: Sequence[Edit], declared: Edit, wanted: Sequence[Edit]
) -> Iterator[Case]:
    """Yield the case of a text in which ``first`` is done, and then ``declared``.

    ``declared`` and ``wanted`` are edits of ``text``; those of no effect are no places.
    """
    calls = [each for each in first if each.start != declared.start]
    before = apply(text, first)
    after = apply(text, [*calls, declared])
    change = change_between(before, after)
    finished = apply(text, [*wanted, declared])
    places = []
    for each in wanted:
        done = [*(e for e in calls if e.start < each.start)]
        if declared.start < each.start:
            done.append(declared)
        shift = sum(len(e.text) - (e.end - e.start) for e in done)
        now = next((e.text for e in calls if e.start == each.start), None)
        length = each.end - each.start if now is None else len(now)
        place = Edit(each.start + shift, each.start + shift + length, each.text)
        if after[place.start : place.end] != place.text:
            places.append(place)
    if change is not None and places and apply(after, places) == finished:
        yield Case(kind, change, tuple(places))


def _left_out(signature: Signature) -> list[int]:
    """Return the parameters that one of the calls gives."""
    given = {each for call in signature.calls for each, _ in call.given}
    return sorted(given) if len(signature.parameters) > 1 else []


def _others(texts: Sequence[str], left_out: int) -> list[str]:
    return [text for n, text in enumerate(texts) if n != left_out]


def _arguments(call: Call, order: Sequence[int]) -> str:
    return ", ".join(call.given[each][1] for each in order)


def _without(call: Call, parameter: int) -> str:
    return ", ".join(text for each, text in call.given if each != parameter)
