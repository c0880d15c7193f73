"""``niello bench refactor``: the shipped recipes on real packages.

Every run is `niello refactor` as a process on a copy of the packages. Afterwards every
changed file must parse, and every module that could be imported before must be still.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from niello.grammars.catalogue import language_of
from niello.infill.files import read_source
from niello.infill.parse import parse

_RECIPES = (
    "add-timeouts",
    "name-exceptions",
    "write-docstrings",
    "annotate-types",
    "fill-todos",
)
# Imports each module in turn and prints those that could be imported.
_IMPORTS = """
import importlib, os, pkgutil, sys
sys.path.insert(0, sys.argv[1])
out, sys.stdout = os.fdopen(os.dup(1), "w"), open(os.devnull, "w")
top = importlib.import_module(sys.argv[2])
for module in pkgutil.walk_packages(top.__path__, top.__name__ + ".", lambda _: None):
    if module.name.endswith(".__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except BaseException:
        continue
    print(module.name, file=out)
os._exit(out.flush() or 0)
"""


class Row(NamedTuple):
    """One recipe on one package."""

    package: str
    recipe: str
    n_files: int  # looked at
    n_targets: int
    gates: Counter[str]
    n_changed: int  # files written
    seconds: float  # filling only, the start of the process left out
    alone_rate: float  # targets a second with batches of one
    rate: float  # with the width the run chose


def main(argv: Sequence[str] | None = None) -> int:
    """Print one row for each recipe and package; return 1 if anything broke."""
    parser = argparse.ArgumentParser(prog="niello bench refactor", description=__doc__)
    parser.add_argument("packages", type=Path, nargs="+", help="folders of packages")
    parser.add_argument("--recipe", action="append", help="only this one")
    parser.add_argument("--limit", type=int, help="most targets a recipe and package")
    parser.add_argument("--model", default="default")
    parser.add_argument("--python", default=sys.executable, help="has their imports")
    options = parser.parse_args(argv)
    broken = 0
    print(
        "| package | files | recipe | targets | changed files | refused | seconds "
        "| a second, batch 1 | a second, chosen batch | gain |"
    )
    print("| --- " * 10 + "|")
    for package in options.packages:
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / package.name
            shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
            importable = imports(options.python, copy)
            for recipe in options.recipe or _RECIPES:
                row = measure(copy, recipe, options.limit, options.model)
                print(as_markdown(row), flush=True)
            broken += report_broken(package, copy)
            lost = importable - imports(options.python, copy)
            print(
                f"{package.name}: {len(importable)} modules could be imported before, "
                f"{len(importable) - len(lost)} of them after",
                file=sys.stderr,
            )
            for module in sorted(lost):
                print(f"  no longer: {module}", file=sys.stderr)
            broken += len(lost)
    return 1 if broken else 0


def measure(package: Path, recipe: str, limit: int | None, model: str) -> Row:
    """Run a recipe on its targets one at a time, then for good in batches."""
    alone = run(package, recipe, limit, model, "--jobs", "1")
    # Where there is nothing to fill there is nothing to write either.
    batched = run(package, recipe, limit, model, "--write") if alone.gates else alone
    return Row(
        package.name,
        recipe,
        sum(1 for _ in package.rglob("*.py")),
        len(batched.gates),
        Counter(gate for gate in batched.gates if gate),
        batched.n_written,
        batched.seconds,
        alone.rate,
        batched.rate,
    )


class Ran(NamedTuple):
    """What the events of one run say."""

    gates: list[str]  # of each target; empty if it passed
    seconds: float
    n_written: int

    @property
    def rate(self) -> float:
        """Targets a second of filling."""
        return len(self.gates) / self.seconds if self.seconds else 0.0


def run(package: Path, recipe: str, limit: int | None, model: str, *more: str) -> Ran:
    """Run `niello refactor` on a package and read its events."""
    arguments = ["refactor", ".", "--recipe", recipe, "--json", "--model", model, *more]
    if limit is not None:
        arguments += ["--limit", str(limit)]
    with tempfile.TemporaryDirectory() as runs:
        done = subprocess.run(
            # -P: a package may have modules named like those of the standard library.
            [sys.executable, "-P", "-m", "niello", *arguments],
            cwd=package,
            env=os.environ | {"NIELLO_RUNS": runs},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"{package.name}, {recipe}: {done.stderr}")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    targets = [event for event in events if event["event"] == "target"]
    return Ran(
        [str(event["gate"]) for event in targets],
        sum(float(event["seconds"]) for event in targets),
        sum(1 for event in events if event["event"] == "written"),
    )


def report_broken(original: Path, copy: Path) -> int:
    """Say which changed files parse worse than before; return how many."""
    broken = 0
    for before, after in changed_files(original, copy):
        language = language_of(before)
        worse = len(parse(after, language).broken) - len(
            parse(before.read_text("utf-8"), language).broken
        )
        if worse > 0:
            broken += 1
            print(f"  parses worse: {before}", file=sys.stderr)
    return broken


def changed_files(original: Path, copy: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file that differs, with its new text."""
    for path in sorted(copy.rglob("*.py")):
        before = original / path.relative_to(copy)
        if before.exists() and before.read_bytes() != path.read_bytes():
            yield before, read_source(path).text


def imports(python: str, package: Path) -> set[str]:
    """Return the modules of a package that can be imported."""
    done = subprocess.run(
        [python, "-B", "-c", _IMPORTS, str(package.parent), package.name],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=1200,
    )
    return set(done.stdout.split())


def as_markdown(row: Row) -> str:
    """Return a row of the table."""
    refused = ", ".join(f"{gate} {n}" for gate, n in row.gates.most_common()) or "0"
    gain = f"{row.rate / row.alone_rate:.2f}" if row.alone_rate else "-"
    return (
        f"| {row.package} | {row.n_files} | {row.recipe} | {row.n_targets} "
        f"| {row.n_changed} | {refused} | {row.seconds:.0f} | {row.alone_rate:.2f} "
        f"| {row.rate:.2f} | {gain} |"
    )
