"""``niello bench code``: places of real files emptied, filled, and compared.

A node that the language's ``spans.scm`` names is deleted and asked for at its place,
with drafts and one token a pass. Give it files that the model was not trained on.
"""

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from niello.engine.engine import Engine
from niello.engine.store import Store
from niello.grammars.catalogue import language_of
from niello.infill.parse import parse

from .infill import Twice, cost, fill_twice
from .roundtrip import Trip, apply, pick, read

_MOST_DELETED = 400  # code points


class Filled(NamedTuple):
    """A place that was filled."""

    exact: bool  # the file is what it was
    first_line: bool  # up to the end of the first line it is
    ran_over: bool  # all that was there, and more
    worse: bool  # parses worse than with nothing there
    twice: Twice


def main(argv: Sequence[str]) -> int:
    """Print a row a language."""
    options = _arguments(argv)
    engine = Engine.load(Store().path(options.model), n_threads=options.threads)
    rows: dict[str, dict[str, float]] = {}
    everything: list[Filled] = []
    for language, paths in _by_language(options.paths, options.languages).items():
        rng = random.Random(f"{options.seed} {language}")
        trips = _trips(paths, options.each, rng)
        filled = []
        for number, trip in enumerate(trips, 1):
            filled.append(fill(engine, trip))
            print(f"\r{language} {number}/{len(trips)}", end="", file=sys.stderr)
        print(file=sys.stderr)
        if filled:
            rows[language] = summarize(filled)
            everything += filled
    if not everything:
        print("no file with a place to fill in these paths", file=sys.stderr)
        return 1
    rows["all"] = summarize(everything)
    print(json.dumps(rows) if options.json else _table(rows))
    return 0


def fill(engine: Engine, trip: Trip) -> Filled:
    """Delete a node, fill its place, compare with the file as it was."""
    whole = read(trip.path) or ""
    text = whole[: trip.start] + whole[trip.end :]
    twice = fill_twice(engine, text, trip.start, trip.language)
    found = apply(text, twice.fill)
    end = whole.find("\n", trip.start)
    rest = whole[trip.end :]
    deleted = whole[trip.start : trip.end]
    written = found[trip.start : len(found) - len(rest)]
    worse = len(parse(found, trip.language).broken) > len(
        parse(text, trip.language).broken
    )
    return Filled(
        exact=found == whole,
        first_line=found[:end] == whole[:end] and found[end : end + 1] in ("", "\n"),
        ran_over=len(written) > len(deleted) and written.startswith(deleted),
        worse=worse,
        twice=twice,
    )


def summarize(filled: Sequence[Filled]) -> dict[str, float]:
    """Return a language's figures."""
    n = len(filled)
    return {
        "n": n,
        "exact": round(sum(each.exact for each in filled) / n, 3),
        "first_line": round(sum(each.first_line for each in filled) / n, 3),
        "ran_over": round(sum(each.ran_over for each in filled) / n, 3),
        "parses_worse": round(sum(each.worse for each in filled) / n, 3),
    } | cost([each.twice for each in filled])


def _by_language(
    paths: Sequence[Path], languages: Sequence[str] | None
) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for top in paths:
        inside = sorted(top.rglob("*")) if top.is_dir() else [top]
        for path in filter(Path.is_file, inside):
            language = language_of(path)
            if not languages or language in languages:
                found.setdefault(language, []).append(path)
    return dict(sorted(found.items()))


def _trips(paths: Sequence[Path], n_most: int, rng: random.Random) -> list[Trip]:
    """Return one place a file, of as many files as are wanted."""
    trips: list[Trip] = []
    for path in rng.sample(paths, len(paths)):
        if len(trips) == n_most:
            break
        found = [
            trip
            for trip in pick(path, rng, 8)
            if trip.end - trip.start <= _MOST_DELETED and trip.capture != "comment"
        ]
        trips += found[:1]
    return trips


def _table(rows: dict[str, dict[str, float]]) -> str:
    names = list(next(iter(rows.values())))
    lines = [["language", *names], ["---"] * (len(names) + 1)]
    lines += [[name, *(str(row[key]) for key in names)] for name, row in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="niello bench code", description=__doc__)
    parser.add_argument("paths", type=Path, nargs="+", help="files or folders")
    parser.add_argument("--languages", nargs="+", help="only these")
    parser.add_argument("--each", type=int, default=40, help="places a language")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="default")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(argv)
