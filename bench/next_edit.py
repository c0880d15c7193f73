"""``niello bench next_edit``: how often a followed change is right, on real renames.

A case is a function of a real file in which a name was renamed, or a parameter added,
where it is introduced and nowhere else. Right is an edit that makes a later place what
the finished rename has there; precision is right of all edits, recall of all places.
"""

import argparse
import ast
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from niello.infill.canvas import never
from niello.infill.parse import parse
from niello.infill.propose import Options
from niello.lsp.next_edit import Change, Scorer, carry_on, change_between
from niello.lsp.settings import NextEdit

_NAMES = {"text": "content", "path": "location", "data": "payload", "name": "label"}


class Case(NamedTuple):
    """A change, and the text when it is carried on everywhere behind."""

    change: Change
    finished: str


class Outcome(NamedTuple):
    """What following the changes of all cases came to."""

    cases: int
    edits: int
    right: int
    places: int

    @property
    def precision(self) -> float:
        """The share of edits that are right."""
        return self.right / self.edits if self.edits else float("nan")

    @property
    def recall(self) -> float:
        """The share of places that were found."""
        return self.right / self.places if self.places else float("nan")


def main(options: Sequence[str]) -> int:
    """Measure and print."""
    from niello.engine.opening import open_filler

    parser = argparse.ArgumentParser("niello bench next_edit", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE.py")
    parser.add_argument("--cases", type=int, default=40, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args(options)
    cases = [case for path in arguments.paths for case in cases_of(path.read_text())]
    random.Random(arguments.seed).shuffle(cases)
    scorer = open_filler("default")
    if not isinstance(scorer, Scorer):
        return 2
    found = measure(cases[: arguments.cases], scorer)
    shown = {**found._asdict(), "precision": found.precision, "recall": found.recall}
    print(json.dumps(shown) if arguments.json else "\n".join(map(str, shown.items())))
    return 0


def measure(cases: Sequence[Case], scorer: Scorer) -> Outcome:
    """Follow each change and count."""
    n_edits = n_right = n_places = 0
    for case in cases:
        parsed = parse(case.change.after, "python")
        wanted = places_of(case)
        edits = carry_on(
            parsed, case.change, scorer, NextEdit(), Options(room=16), never
        )
        n_edits += len(edits)
        n_right += sum((each.start, each.end, each.text) in wanted for each in edits)
        n_places += len(wanted)
    return Outcome(len(cases), n_edits, n_right, n_places)


def cases_of(source: str) -> Iterator[Case]:
    """Yield the renames that a file's functions allow."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        text = ast.get_source_segment(source, function)
        if text is None or not 3 <= text.count("\n") <= 40:
            continue
        for parameter in function.args.args[:3]:
            if parameter.arg in ("self", "cls") or len(parameter.arg) < 3:
                continue
            new = _NAMES.get(parameter.arg, f"{parameter.arg}_value")
            if new not in text:
                yield from _rename(text, parameter.arg, new)


def _rename(text: str, old: str, new: str) -> Iterator[Case]:
    """Rename a parameter in the signature alone, and everywhere."""
    places = _places(text, old)
    if not 2 <= len(places) <= 8:
        return
    first = places[0]
    after = text[:first] + new + text[first + len(old) :]
    finished = text
    for place in reversed(places):
        finished = finished[:place] + new + finished[place + len(old) :]
    change = change_between(text, after)
    if change is not None:
        yield Case(change, finished)


def _places(text: str, name: str) -> list[int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = set()
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    for node in ast.walk(tree):
        named = isinstance(node, ast.Name) and node.id == name
        named = named or (isinstance(node, ast.arg) and node.arg == name)
        if named and isinstance(node, ast.Name | ast.arg):
            found.add(starts[node.lineno - 1] + node.col_offset)
    return sorted(found) if text.isascii() else []


def places_of(case: Case) -> set[tuple[int, int, str]]:
    """Return the edits that finish a case's change."""
    change = case.change
    new = _name_at(change.after, change.start)
    old = _name_at(change.before, change.start)
    return {(place, place + len(old), new) for place in _places(change.after, old)}


def _name_at(text: str, offset: int) -> str:
    start = end = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return text[start:end]
