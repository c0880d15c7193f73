"""``niello bench infill``: HumanEval-Infilling (arXiv 2207.14255), as an editor asks.

Every task becomes a file with a cursor and goes through span, canvas, engine and judge;
nobody tells the product how long the answer is. Beside it stands the plain model: the
same weights, one token a pass, without spans and judge, everything it wrote until its
end token (raw) and its first line (cut), with and without the fill adapter. The
programs are run; the texts are the model's own at temperature 0.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from niello.engine.engine import Engine
from niello.engine.filling import Limits
from niello.engine.mask_mode import FIRST
from niello.engine.store import Store
from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.context import Context
from niello.infill.parse import parse
from niello.infill.propose import Candidate, Options, propose
from niello.infill.snapshot import Snapshot

from .programs import passes

SETS = {
    "single": "HumanEval-SingleLineInfilling.jsonl",
    "multi": "HumanEval-MultiLineInfilling.jsonl",
    "random": "HumanEval-RandomSpanInfilling.jsonl",
    "light": "HumanEval-RandomSpanInfillingLight.jsonl",
}
T = TypeVar("T")
_ROOM = 256  # most tokens the product writes
_RAW_ROOM = 96  # most tokens the plain model writes: one that never stops is cut here
_BATCH = 8  # canvases of the plain model in one pass


class Task(NamedTuple):
    """One hole of the benchmark."""

    name: str
    prefix: str
    suffix: str
    test: str
    entry: str

    def program(self, middle: str) -> str:
        """Return the filled file and the call of its test."""
        return f"{self.prefix}{middle}{self.suffix}\n{self.test}\ncheck({self.entry})\n"


class Twice(NamedTuple):
    """What came of a place filled with drafts and one token a pass."""

    fill: Candidate | None
    n_fed: int  # tokens computed with drafts, the last ones of the context included
    seconds: float
    plain_seconds: float  # one token a pass
    same: bool  # whether both wrote the same


class Filled(NamedTuple):
    """What the product did with a task."""

    task: Task
    middle: str  # what stands between prefix and suffix afterwards
    twice: Twice


def main(argv: Sequence[str]) -> int:
    """Run the benchmark and print its table, or JSON."""
    options = _arguments(argv)
    tasks = read_tasks(options.data / SETS[options.set], options.limit, options.seed)
    folder = Store().path(options.model)
    engine = Engine.load(folder, n_threads=options.threads)
    if options.unchecked:
        return _unchecked(engine, tasks, options.unchecked)
    filled = list(_progress("product", _product(engine, tasks), len(tasks)))
    raw = dict(_progress("plain", _raw(engine, tasks), len(tasks)))
    result = summarize(filled) | {"right_at": agreement(engine)}
    result |= _of_plain("base", raw)
    if not options.skip_unadapted:
        del engine
        plain = Engine.load(Store().path("plain"), n_threads=options.threads)
        raw = dict(_progress("unadapted", _raw(plain, tasks), len(tasks)))
        result |= _of_plain("unadapted", raw)
    result |= {"set": options.set, "seed": options.seed, "model": options.model}
    print(json.dumps(result) if options.json else _table(result))
    return 0


def _unchecked(
    engine: Engine, tasks: Sequence[Task], thresholds: Sequence[float]
) -> int:
    """Print what guesses bring that are committed unchecked from a probability on."""
    names = ("pass_at_1", "interval", "tpf", "lossless", "seconds_p50", "speedup")
    print("| from | " + " | ".join(names) + " |\n" + "| --- " * (len(names) + 1) + "|")
    checked = engine.limits
    for sure in (0.0, *thresholds):
        engine.limits = checked._replace(sure=sure)
        name = f"{sure}" if sure else "checked"
        figures = summarize(list(_progress(name, _product(engine, tasks), len(tasks))))
        cells = [str(figures[key]) for key in names]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    engine.limits = checked
    return 0


def read_tasks(path: Path, limit: int | None, seed: int) -> list[Task]:
    """Return the tasks of a file: all, or a seeded choice of ``limit``."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    keys = ("task_id", "prompt", "suffix", "test", "entry_point")
    tasks = [Task(*(row[key] for key in keys)) for row in rows]
    if limit is not None and limit < len(tasks):
        tasks = random.Random(seed).sample(tasks, limit)
    return tasks


def as_document(task: Task) -> tuple[str, int]:
    """Return the file and cursor: whole lines are asked for on a blank line."""
    at_line = task.prefix.endswith("\n") or not task.prefix
    gap = "\n" if at_line and not task.suffix.startswith("\n") else ""
    return task.prefix + gap + task.suffix, len(task.prefix)


def summarize(filled: Sequence[Filled]) -> dict[str, object]:
    """Return the product's numbers."""
    n = len(filled)
    right = sum(passes(each.task.program(each.middle)) for each in filled)
    return {
        "n": n,
        "pass_at_1": round(right / n, 4),
        "interval": wilson(right, n),
        "parse_rate": round(sum(map(_parses, filled)) / n, 4),
        "suffix_duplication": round(sum(map(_echoes, filled)) / n, 4),
    } | cost([each.twice for each in filled])


def cost(filled: Sequence[Twice]) -> dict[str, float]:
    """Return how often something was shown, and what it cost."""
    n = len(filled)
    fills = [each.fill for each in filled if each.fill]
    seconds = [each.seconds for each in filled]
    n_tokens = max(1, sum(fill.n_tokens for fill in fills))
    forwards = [fill.forwards for fill in fills]
    return {
        "shown": round(len(fills) / n, 4),
        "tpf": round(n_tokens / max(1, sum(forwards)), 3),
        "fed_per_token": round(sum(each.n_fed for each in filled) / n_tokens, 2),
        "forwards": round(statistics.mean(forwards), 2) if forwards else 0,
        "lossless": round(sum(each.same for each in filled) / n, 4),
        "seconds_p50": round(statistics.median(seconds), 3),
        "seconds_p95": round(_percentile(seconds, 0.95), 3),
        "speedup": round(sum(f.plain_seconds for f in filled) / sum(seconds), 3),
    }


def agreement(engine: Engine) -> dict[int, float]:
    """Return the share of drafted tokens that were right, after right ones, by place.

    The place counts from the known token on; the first drafted one has place 2, as the
    token at place 1 is free.
    """
    counts = engine.limits.pace.outcomes if engine.limits.pace else {}
    places = sorted({place for place, _ in counts})
    return {
        place + FIRST: round(
            counts[place, True] / (counts[place, True] + counts[place, False]), 3
        )
        for place in places
    }


def wilson(right: int, n: int) -> list[float]:
    """Return the 95 % interval of a share (Wilson 1927)."""
    z, share = 1.96, right / n
    middle = share + z * z / (2 * n)
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    whole = 1 + z * z / n
    return [round((middle - half) / whole, 4), round((middle + half) / whole, 4)]


def fill_twice(engine: Engine, text: str, cursor: int, language: str) -> Twice:
    """Fill a place twice in turn: with drafts, and one token a pass; both warm."""
    drafting = engine.limits
    snapshot = Snapshot(f"task.{language}", 0, language, text)
    options = Options(Draws(), _ROOM)
    counted = _Counted(engine)
    propose(snapshot, cursor, engine, options._replace(room=1))  # warms the cache
    start = time.perf_counter()
    candidates = propose(snapshot, cursor, counted, options)
    middle = time.perf_counter()
    engine.limits = Limits(n_draft=0)
    plain = propose(snapshot, cursor, engine, options)
    end = time.perf_counter()
    engine.limits = drafting
    best = candidates[0] if candidates else None
    same = [c.text for c in candidates] == [c.text for c in plain]
    return Twice(best, counted.n_fed, middle - start, end - middle, same)


class _Counted:
    """The engine, with the tokens counted that it computes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.n_fed = 0

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        groups = self._engine.fill(canvases, draws, stop)
        self.n_fed += sum(fill.n_fed for fills in groups for fill in fills)
        return groups


def _product(engine: Engine, tasks: Sequence[Task]) -> Iterator[Filled]:
    for task in tasks:
        text, cursor = as_document(task)
        twice = fill_twice(engine, text, cursor, "python")
        yield Filled(task, _middle(text, task, twice.fill), twice)


def _middle(text: str, task: Task, candidate: Candidate | None) -> str:
    """Return what stands where the hole was; the suffix's own text left out."""
    if candidate is None:
        return text[len(task.prefix) : len(text) - len(task.suffix)]
    span = candidate.span
    done = text[: span.start] + candidate.text + text[span.end :]
    return done[len(task.prefix) : len(done) - len(task.suffix)]


def _raw(engine: Engine, tasks: Sequence[Task]) -> Iterator[tuple[Task, Fill]]:
    """Yield what the plain model writes until its end token, several tasks a pass."""
    engine.clear_caches()
    for start in range(0, len(tasks), _BATCH):
        part = tasks[start : start + _BATCH]
        canvases = [
            Canvas(Context(task.prefix, task.suffix), "", _RAW_ROOM, lambda _: None)
            for task in part
        ]
        fills = engine.fill(canvases, Draws())
        engine.clear_caches()
        yield from ((task, fill) for task, (fill,) in zip(part, fills, strict=True))


def _of_plain(name: str, raw: dict[Task, Fill]) -> dict[str, object]:
    n = len(raw)
    whole = sum(passes(task.program(fill.text)) for task, fill in raw.items())
    cut = sum(passes(task.program(first_line(f.text))) for task, f in raw.items())
    over = sum(fill.reason == "room" for fill in raw.values())
    return {
        f"{name}_raw_pass_at_1": round(whole / n, 4),
        f"{name}_cut_pass_at_1": round(cut / n, 4),
        f"{name}_over_run": round(over / n, 4),
    }


def first_line(text: str) -> str:
    """Return a text up to and with its first line end."""
    return text[: text.find("\n") + 1 or len(text)]


def _parses(filled: Filled) -> bool:
    task = filled.task
    return not parse(task.prefix + filled.middle + task.suffix, "python").broken


def _echoes(filled: Filled) -> bool:
    """Return whether the fill ends with a line, or eight characters, of the suffix."""
    suffix, middle = filled.task.suffix.lstrip("\n"), filled.middle.rstrip("\n")
    lines = [line for line in suffix.splitlines() if line.strip()][:1]
    ends = [lines[0]] if lines and len(lines[0].strip()) >= 3 else []
    return any(middle.endswith("\n" + end) or middle == end for end in ends)


def _percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _progress(name: str, results: Iterator[T], n: int) -> Iterator[T]:
    for number, result in enumerate(results, 1):
        if sys.stderr.isatty() or number % 50 == 0 or number == n:
            print(f"\r{name} {number}/{n}", end="", file=sys.stderr, flush=True)
        yield result
    print(file=sys.stderr)


def _table(result: dict[str, object]) -> str:
    return "\n".join(f"{key:24} {value}" for key, value in result.items())


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="niello bench infill", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--set", choices=SETS, default="single")
    parser.add_argument("--limit", type=int, help="a seeded choice of this many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="default")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--skip-unadapted", action="store_true")
    parser.add_argument(
        "--unchecked",
        type=float,
        nargs="+",
        metavar="P",
        help="a table: guesses of at least this probability are committed unchecked",
    )
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(argv)
