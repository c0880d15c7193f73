"""Signatures of real Python code whose calls, all in sight, say what they give."""

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

MOST_PLACES = 8  # that have to follow one change
_IN_SIGHT = 60  # lines from a signature to a call
_LONGEST = 150  # lines of a text


class Call(NamedTuple):
    """What a call gives to each parameter, and where its arguments stand."""

    start: int
    end: int
    given: tuple[tuple[int, str], ...]  # parameter and text, in their order


class Signature(NamedTuple):
    """A function's parameters, ``self`` left out, and its calls in sight."""

    text: str
    start: int
    end: int
    parameters: tuple[str, ...]
    plain: int  # how many of them have no default
    calls: tuple[Call, ...]


def signatures(tree: ast.Module, source: str) -> Iterator[Signature]:
    """Yield the functions of one plain line whose calls are all plain and in sight."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = [function.name for function in functions]
    for function in functions:
        arguments = function.args
        special = arguments.vararg or arguments.kwarg or arguments.posonlyargs
        name = function.name
        if special or arguments.kwonlyargs or names.count(name) > 1 or name[:2] == "__":
            continue
        own = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and called(node.func) == name
        ]
        if not 1 <= len(own) <= MOST_PLACES:
            continue
        if any(abs(node.lineno - function.lineno) > _IN_SIGHT for node in own):
            continue
        lines = [function.lineno, *(node.lineno for node in own)]
        text = cut(tree, source, min(lines), max(lines))
        found = None if text is None else _signature(function, own, source, *text)
        if found is not None:
            yield found


def called(function: ast.expr) -> str:
    """Return the name of a function that is called by it or as one's own method."""
    if isinstance(function, ast.Name):
        return function.id
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.attr if function.value.id in ("self", "cls") else ""
    return ""


def _signature(
    function: ast.FunctionDef,
    own: Sequence[ast.Call],
    source: str,
    text: str,
    first: int,
) -> Signature | None:
    at = offsets(source)
    declared = function.args.args
    if declared and declared[0].arg in ("self", "cls"):
        declared = declared[1:]
    n_plain = len(function.args.args) - len(function.args.defaults)
    n_plain -= len(function.args.args) - len(declared)
    ends: list[ast.expr | ast.arg] = list(declared)
    ends[n_plain:] = function.args.defaults
    if not declared or len(ends) != len(declared) or n_plain < 0:
        return None

    def span(node: ast.expr | ast.arg | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = at(node.lineno, node.col_offset)
        return start - first, at(node.end_lineno, node.end_col_offset) - first

    spans = [
        (span(one)[0], span(other)[1])
        for one, other in zip(declared, ends, strict=True)
    ]
    names = [each.arg for each in declared]
    calls: list[Call] = []
    for node in own:
        start, end = span(node.func)[1] + 1, span(node)[1] - 1
        values: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        keywords = [each.arg or "" for each in node.keywords]
        if any(isinstance(each, ast.Starred) for each in node.args) or any(
            each not in names for each in keywords
        ):
            return None
        which = [*range(len(node.args)), *(names.index(each) for each in keywords)]
        texts = [text[slice(*span(each))] for each in values]
        if ", ".join(texts) != text[start:end] or len(set(which)) < len(which):
            return None  # Over several lines, with a comment, or wrong.
        given = tuple(zip(which, texts, strict=True))
        calls.append(Call(start, end, given))
    start, end = spans[0][0], spans[-1][1]
    parameters = tuple(text[slice(*each)] for each in spans)
    if ", ".join(parameters) != text[start:end]:
        return None
    calls.sort()
    if any(one.end > other.start for one, other in pairwise(calls)):
        return None  # One gives what the other returns.
    return Signature(text, start, end, parameters, n_plain, tuple(calls))


def offsets(text: str) -> Callable[[int, int], int]:
    """Return what makes offsets of the tree's lines, counted from 1, and columns."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return lambda line, column: min(starts[line - 1] + column, len(text))


def cut(tree: ast.Module, source: str, first: int, last: int) -> tuple[str, int] | None:
    """Return the whole statements of a file in touch with some lines, if not too long.

    Beside them their place in the file.
    """
    tops = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in tree.body
        if node.lineno <= last and (node.end_lineno or node.lineno) >= first
    ]
    if not tops or tops[-1][1] - tops[0][0] >= _LONGEST:
        return None
    at = offsets(source)
    start = at(tops[0][0], 0)
    return source[start : at(tops[-1][1] + 1, 0)], start
