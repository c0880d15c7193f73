"""``niello bench spans``: round trips, wrong text and times of spans and judge."""

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import TypeVar

from niello.grammars.catalogue import all_languages, language_of

from .keystrokes import median, most, time_keystrokes
from .roundtrip import RULES, Outcome, Spoiled, Trip, pick, play, read, spoil

_NEEDED = 0.995

_Task = tuple[Path, int, int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurement that the arguments name."""
    parser = argparse.ArgumentParser(prog="niello bench spans", description=__doc__)
    parser.add_argument("sources", type=Path, help="a folder of files")
    parser.add_argument("--cases", type=int, default=20_000, help="trips times rules")
    parser.add_argument("--files", type=int, default=300, help="most files a language")
    parser.add_argument("--language", action="append", help="only this language")
    parser.add_argument("--failures", type=Path, help="a folder for what went wrong")
    parser.add_argument("--time", action="store_true", help="type into SOURCES, a file")
    parser.add_argument("--wrong", action="store_true", help="fill wrong text instead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    if options.time:
        return run_times(options.sources, options.json)
    files = find_files(options.sources, options.language, options.files, options.seed)
    if not files:
        print(f"no source files below {options.sources}", file=sys.stderr)
        return 2
    if options.wrong:
        return run_wrong(files, options.cases, options.seed, options.jobs)
    per_file = -(-options.cases // (sum(map(len, files.values())) * len(RULES)))
    paths = [path for found in files.values() for path in found]
    tasks = [(path, per_file, options.seed) for path in paths]
    right: dict[str, Counter[str]] = defaultdict(Counter)
    total: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in _work_on(_work, tasks, options.jobs):
        language, rule = outcome.trip.language, outcome.rule
        total[language][rule] += 1
        right[language][rule] += outcome.same
        if options.failures and not outcome.same:
            keep(outcome, options.failures)
    counts = {name: len(found) for name, found in files.items()}
    if options.json:
        print(json.dumps(_summary(right, total, counts), indent=1))
    else:
        print(_table(right, total, counts))
    shares = [right[name].total() / max(1, total[name].total()) for name in total]
    return 0 if all(share >= _NEEDED for share in shares) else 1


def run_times(path: Path, as_json: bool) -> int:
    """Type into a file and print what reparse, span and canvas take for a key."""
    text = read(path)
    if text is None:
        print(f"{path} is not UTF-8", file=sys.stderr)
        return 2
    times = time_keystrokes(text, language_of(path), 400)
    rows = {
        name: {"median_ms": median(part), "p99_ms": most(part)}
        for name, part in times._asdict().items()
    }
    if as_json:
        print(json.dumps({"lines": text.count("\n"), **rows}, indent=1))
        return 0
    print(f"{path.name}: {text.count(chr(10))} lines, {len(text)} characters")
    for name, row in rows.items():
        print(
            f"{name:8} median {row['median_ms']:6.2f} ms, p99 {row['p99_ms']:6.2f} ms"
        )
    return 0


def run_wrong(files: dict[str, list[Path]], n_cases: int, seed: int, jobs: int) -> int:
    """Fill wrong text everywhere; nothing shown may leave more that does not parse."""
    per_file = -(-n_cases // sum(map(len, files.values())))
    tasks = [(path, per_file, seed) for found in files.values() for path in found]
    shown: Counter[str] = Counter()
    total: Counter[str] = Counter()
    worse: list[Spoiled] = []
    for spoiled in _work_on(_spoil_file, tasks, jobs):
        total[spoiled.trip.language] += 1
        shown[spoiled.trip.language] += spoiled.shown
        if spoiled.n_after > spoiled.n_before:
            worse.append(spoiled)
    print(f"{'language':12}{'cases':>7}{'shown':>7}{'worse':>7}")
    for name in sorted(total):
        n_worse = sum(each.trip.language == name for each in worse)
        print(f"{name:12}{total[name]:7}{shown[name]:7}{n_worse:7}")
    for each in worse:
        print(f"{each.trip.path}:{each.trip.start}: {each.written!r}")
    print(f"{total.total()} wrong texts, {len(worse)} shown that parse worse")
    return 1 if worse else 0


def _spoil_file(task: _Task) -> list[Spoiled]:
    path, n_trips, seed = task
    rng = random.Random(f"{seed} {path.name}")
    trips = pick(path, rng, n_trips)
    text = read(path) or ""
    others = [text[trip.start : trip.end] for trip in trips]
    return [spoil(trip, others, rng) for trip in trips]


def find_files(
    folder: Path, only: Sequence[str] | None, most: int, seed: int
) -> dict[str, list[Path]]:
    """Return files by language, a random choice of them where there are more."""
    known = {language.name for language in all_languages()}
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        language = language_of(path)
        if language in known and (not only or language in only) and path.is_file():
            found[language].append(path)
    rng = random.Random(seed)
    return {
        name: sorted(rng.sample(paths, min(most, len(paths))))
        for name, paths in sorted(found.items())
    }


_Result = TypeVar("_Result")


def _work_on(
    work: Callable[[_Task], list[_Result]], tasks: list[_Task], jobs: int
) -> Iterator[_Result]:
    if jobs == 1:
        for task in tasks:
            yield from work(task)
        return
    with Pool(jobs) as pool:
        for results in pool.imap_unordered(work, tasks, chunksize=8):
            yield from results


def _work(task: _Task) -> list[Outcome]:
    path, n_trips, seed = task
    rng = random.Random(f"{seed} {path.name}")
    trips: list[Trip] = pick(path, rng, n_trips)
    return [outcome for trip in trips for outcome in play(trip)]


def keep(outcome: Outcome, folder: Path) -> None:
    """Write what was expected, what came and what was filled, as three files."""
    trip = outcome.trip
    name = f"{trip.path.stem[:40]}-{trip.start}-{trip.capture}"
    place = folder / trip.language / outcome.rule
    place.mkdir(parents=True, exist_ok=True)
    for kind, text in (
        ("expected", outcome.expected),
        ("found", outcome.found),
        ("written", outcome.written),
    ):
        path = place / f"{name}.{kind}{trip.path.suffix}"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))


_Counts = dict[str, Counter[str]]


def _summary(
    right: _Counts, total: _Counts, files: dict[str, int]
) -> dict[str, dict[str, float]]:
    return {
        name: {
            "files": files[name],
            "cases": total[name].total(),
            "right": right[name].total() / total[name].total(),
            **{rule: right[name][rule] / max(1, total[name][rule]) for rule in RULES},
        }
        for name in sorted(total)
    }


def _table(right: _Counts, total: _Counts, files: dict[str, int]) -> str:
    head = f"{'language':12}{'files':>6}{'cases':>7}{'all %':>8}"
    lines = [head + "".join(f"{rule:>9}" for rule in RULES)]
    for name in sorted(total):
        share = 100 * right[name].total() / total[name].total()
        cells = "".join(
            f"{100 * right[name][rule] / total[name][rule]:9.2f}"
            if total[name][rule]
            else f"{'-':>9}"
            for rule in RULES
        )
        lines.append(
            f"{name:12}{files[name]:6}{total[name].total():7}{share:8.2f}{cells}"
        )
    n_cases = sum(counter.total() for counter in total.values())
    n_right = sum(counter.total() for counter in right.values())
    lines.append(f"{n_cases} cases, {n_cases - n_right} not as they were")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
