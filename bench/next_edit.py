"""``niello bench next_edit``: how often a followed change is right, on real code.

A case is a real text in which a parameter was renamed, added, removed or put in another
order where it is declared and nowhere else. An edit is right if its place then reads as
in the finished text, white space aside; precision is right of all edits, recall found
of all places.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from niello.infill.canvas import never
from niello.infill.parse import parse
from niello.infill.propose import Options
from niello.lsp.edits import Edit
from niello.lsp.next_edit import Scorer, carry_on
from niello.lsp.settings import NextEdit

from .changes import KINDS, Case, apply, cases_of


class Outcome(NamedTuple):
    """What following the changes of some cases came to."""

    kind: str
    cases: int
    edits: int
    right: int
    places: int
    found: int

    @property
    def precision(self) -> float:
        """The share of edits that are right."""
        return self.right / self.edits if self.edits else float("nan")

    @property
    def recall(self) -> float:
        """The share of places that were found."""
        return self.found / self.places if self.places else float("nan")


def main(options: Sequence[str]) -> int:
    """Measure and print."""
    from niello.engine.opening import open_filler

    parser = argparse.ArgumentParser("niello bench next_edit", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE.py")
    parser.add_argument(
        "--cases", type=int, default=40, metavar="N", help="most cases of a kind (40)"
    )
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this one")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args(options)
    cases = [
        case
        for path in sorted(arguments.paths)
        for case in cases_of(path.read_text("utf-8", "replace"), arguments.seed)
    ]
    random.Random(arguments.seed).shuffle(cases)
    scorer = open_filler("default")
    if not isinstance(scorer, Scorer):
        return 2
    found = []
    for kind in arguments.kind or KINDS:
        own = [case for case in cases if case.kind == kind][: arguments.cases]
        found.append(measure(kind, own, scorer))
        if not arguments.json:
            print(row(found[-1]), flush=True)
    if arguments.json:
        shares = ("precision", "recall")
        print(
            json.dumps(
                [
                    {**each._asdict(), **{name: getattr(each, name) for name in shares}}
                    for each in found
                ]
            )
        )
    return 0


def row(found: Outcome) -> str:
    """Return a line of the table."""
    return (
        f"{found.kind:10} {found.cases:4} cases  {found.right:4} of {found.edits:4} "
        f"edits right ({found.precision:4.0%})  {found.found:4} of {found.places:4} "
        f"places found ({found.recall:4.0%})"
    )


def measure(kind: str, cases: Sequence[Case], scorer: Scorer) -> Outcome:
    """Follow each change and count."""
    n_edits = n_right = n_places = n_found = 0
    for case in cases:
        parsed = parse(case.change.after, "python")
        edits = carry_on(
            parsed, case.change, scorer, NextEdit(), Options(room=32), never
        )
        right, found = judge(case, edits)
        n_edits += len(edits)
        n_right += right
        n_places += len(case.places)
        n_found += found
    return Outcome(kind, len(cases), n_edits, n_right, n_places, n_found)


def judge(case: Case, edits: Sequence[Edit]) -> tuple[int, int]:
    """Return how many edits are right, and how many places are as they should be."""
    n_right, text = 0, case.change.after
    found: set[Edit] = set()
    for edit in edits:
        touched = [each for each in case.places if _touch(each, edit)]
        if not touched:
            continue
        start = min(each.start for each in [edit, *touched])
        end = max(each.end for each in [edit, *touched])
        inside = [each for each in edits if start <= each.start and each.end <= end]
        wanted = [
            each for each in case.places if start <= each.start and each.end <= end
        ]
        if _read(text, start, end, inside) == _read(text, start, end, wanted):
            n_right += 1
            found.update(touched)
    return n_right, len(found)


def _touch(one: Edit, other: Edit) -> bool:
    return one.start <= other.end and other.start <= one.end


def _read(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    own = [Edit(each.start - start, each.end - start, each.text) for each in edits]
    return "".join(apply(text[start:end], own).split())
