"""``make peers``: fills beside llama.cpp and transformers, same prompts, same machine.

Each contestant is a process of its own that reads requests and writes answers, one
JSON object a line:

    {"prefix", "suffix", "n_tokens", "cold"}  ->  {"seconds", "n_prompt", "n_tokens"}

and at first {"seconds"} of its start. They take turns, forwards and backwards, so that
what the machine does beside them falls on all alike. A prompt is filled cold, with
every cache empty, and then warm, with the prompt's keys and values kept. llama.cpp runs
the published file, without our fill adapter, and would stop elsewhere: so all write as
many tokens as ours needs, and an end token stops nobody.

The last line of ``--json`` holds ratios, ours over the quicker way of llama.cpp: of
times, where below 1 is faster, and of tokens a second (decode, prefill; one token a
pass on both sides), where above 1 is.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from platformdirs import user_cache_path

from niello.bench.infill import SETS, Task, read_tasks
from niello.engine.known import KNOWN
from niello.engine.store import Store

HERE = Path(__file__).parent
OURS, OURS_PLAIN = "niello", "niello, one at a time"
LLAMA, LLAMA_LOOKUP = "llama.cpp", "llama.cpp, look-up"
KINDS = {"single": 24, "multi": 64}  # most tokens of a fill
_LONG = 1000  # tokens, about, of the prompt that prefill is timed with
_N_PREFILLS = 3


class Run(NamedTuple):
    """One timed fill."""

    kind: str  # of the prompt, or "prefill"
    cold: bool
    seconds: float
    n_prompt: int
    n_tokens: int


class Contestant:
    """A process that fills, and what was measured of it."""

    def __init__(self, name: str, command: Sequence[str | Path]) -> None:
        """Start the process and wait until its model is loaded."""
        self.name = name
        self.runs: list[Run] = []
        self.n_bytes = 0
        self._process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.seconds_to_load = self._read()["seconds"]
        print(f"{name}: {self.seconds_to_load:.1f} s to load", file=sys.stderr)

    def __enter__(self) -> "Contestant":
        """Return the running contestant."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def fill(self, **request: Any) -> dict[str, Any]:
        """Have one request answered; the memory held afterwards is noted."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        resident = psutil.Process(self._process.pid).memory_info().rss
        self.n_bytes = max(self.n_bytes, resident)
        return answer

    def run(self, kind: str, **request: Any) -> None:
        """Have a request answered and keep its time."""
        self.runs.append(Run(kind, request["cold"], **self.fill(**request)))

    def seconds(self, cold: bool, *kinds: str) -> list[float]:
        """Return the times of fills."""
        kinds = kinds or tuple(KINDS)
        return [r.seconds for r in self.runs if r.cold == cold and r.kind in kinds]

    def decode_rate(self) -> float:
        """Return the tokens a second of all warm fills."""
        warm = [run for run in self.runs if not run.cold]
        return sum(run.n_tokens for run in warm) / sum(run.seconds for run in warm)

    def prefill_rate(self) -> float:
        """Return the prompt tokens a second of a long prompt."""
        return statistics.median(
            run.n_prompt / run.seconds for run in self.runs if run.kind == "prefill"
        )

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended early; what it wrote stands above")
        answer: dict[str, Any] = json.loads(line)
        return answer


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    options = _arguments(argv)
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # As the command line does.
    with ExitStack() as running:
        contestants = [
            running.enter_context(Contestant(name, command))
            for name, command in commands(options).items()
        ]
        by_name = {contestant.name: contestant for contestant in contestants}
        tasks = {
            kind: read_tasks(options.data / SETS[kind], options.limit, options.seed)
            for kind in KINDS
        }
        time_prefill(contestants, tasks["single"])
        for kind, own in tasks.items():
            time_fills(contestants, by_name[OURS_PLAIN], kind, own)
    print(table(contestants, options))
    if options.json:
        print(json.dumps(ratios(by_name)))
    return 0


def commands(options: argparse.Namespace) -> dict[str, list[str | Path]]:
    """Return how each contestant is started."""
    store = Store()
    model = store.path("default")
    gguf = options.gguf or store.root / "sources" / KNOWN["default"].file
    if not gguf.is_file():
        sys.exit(
            f"{gguf} is not here; fetch it with niello models pull, or name --gguf"
        )
    ours = [sys.executable, HERE / "ours.py", model, options.threads]
    llama = ["node", install() / "llama.mjs", gguf, options.threads]
    found = {
        OURS: [*ours, "draft"],
        OURS_PLAIN: [*ours, "plain"],
        LLAMA: [*llama, "plain"],
        LLAMA_LOOKUP: [*llama, "lookup"],
    }
    if options.with_transformers:
        hugging = [sys.executable, HERE / "hugging.py", model, options.threads]
        found["transformers"] = [*hugging, "plain"]
        found["transformers, look-up"] = [*hugging, "lookup"]
    return found


def install() -> Path:
    """Put the pinned llama.cpp into the user's cache unless it is there; return where.

    The package brings built libraries, so no script of it has to run.
    """
    folder = user_cache_path("niello") / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "installed.json"
    lock = HERE / "package-lock.json"
    if not done.is_file() or done.read_bytes() != lock.read_bytes():
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(HERE / name, folder)
        npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(npm, cwd=folder, check=True, stdout=sys.stderr)
        shutil.copy(lock, done)
    shutil.copy(HERE / "llama.mjs", folder)
    return folder


def time_prefill(contestants: Sequence[Contestant], tasks: Sequence[Task]) -> None:
    """Time a long prompt and one token; a short one first wakes all up."""
    text = "".join(task.prefix + task.suffix for task in tasks)
    while len(text) < _LONG * 3:
        text += text
    request = {"prefix": text[: _LONG * 3], "suffix": "\n", "n_tokens": 1, "cold": True}
    for contestant in contestants:
        contestant.fill(**request | {"prefix": text[:100], "n_tokens": 4})
    for _ in range(_N_PREFILLS):
        for contestant in contestants:
            contestant.run("prefill", **request)
    n_prompt = {run.n_prompt for each in contestants for run in each.runs}
    assert len(n_prompt) == 1, f"prompts differ in length: {n_prompt}"


def time_fills(
    contestants: Sequence[Contestant],
    plain: Contestant,
    kind: str,
    tasks: Sequence[Task],
) -> None:
    """Time each prompt cold and warm with every contestant in turn."""
    for number, task in enumerate(tasks, 1):
        text = {"prefix": task.prefix, "suffix": task.suffix}
        most = {"n_tokens": KINDS[kind], "one_line": kind == "single"}
        length = plain.fill(**text, **most, cold=True)["n_tokens"]
        order = contestants if number % 2 else contestants[::-1]
        for cold in (True, False):
            for contestant in order:
                contestant.run(kind, **text, n_tokens=length, cold=cold)
        print(f"\r{kind} {number}/{len(tasks)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def ratios(by_name: dict[str, Contestant]) -> dict[str, float]:
    """Return ours over llama.cpp's."""
    ours, ours_plain, plain = by_name[OURS], by_name[OURS_PLAIN], by_name[LLAMA]

    def of_times(cold: bool, share: float) -> float:
        own = percentile(ours.seconds(cold), share)
        ways = (plain, by_name[LLAMA_LOOKUP])
        return own / min(percentile(way.seconds(cold), share) for way in ways)

    found = {
        "wall_ratio_p50": of_times(False, 0.5),
        "wall_ratio_p95": of_times(False, 0.95),
        "cold_ratio_p50": of_times(True, 0.5),
        "decode_ratio": ours_plain.decode_rate() / plain.decode_rate(),
        "prefill_ratio": ours.prefill_rate() / plain.prefill_rate(),
    }
    return {name: round(value, 3) for name, value in found.items()}


def table(contestants: Sequence[Contestant], options: argparse.Namespace) -> str:
    """Return what was measured, a contestant a row."""
    heads = ["load s", "prefill/s", "decode/s"]
    heads += [f"{kind[:6]} {p}" for kind in KINDS for p in ("p50", "p95")]
    heads += ["cold p50", "cold p95", "RSS MB"]
    lines = [f"{'':22}" + "".join(f"{head:>11}" for head in heads)]
    for each in contestants:
        values = [each.seconds_to_load, each.prefill_rate(), each.decode_rate()]
        for kind in KINDS:
            times = each.seconds(False, kind)
            values += [percentile(times, 0.5), percentile(times, 0.95)]
        cold = each.seconds(True)
        values += [percentile(cold, 0.5), percentile(cold, 0.95), each.n_bytes / 1e6]
        cells = (
            f"{value:11.0f}" if value >= 100 else f"{value:11.3g}" for value in values
        )
        lines.append(f"{each.name:22}" + "".join(cells))
    n_tokens = [run.n_tokens for run in contestants[0].runs if run.kind != "prefill"]
    lines.append(
        f"{options.limit} prompts of each kind, seed {options.seed}, {options.threads}"
        f" threads, fills of {statistics.mean(n_tokens):.1f} tokens on average; times"
        " are seconds, warm unless cold is said; tokens a second are of whole fills"
    )
    return "\n".join(lines)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that ``share`` of the values do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--limit", type=int, default=8, help="prompts of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=psutil.cpu_count(logical=False))
    parser.add_argument("--gguf", type=Path, help="another place of the model's file")
    parser.add_argument("--with-transformers", action="store_true")
    parser.add_argument("--json", action="store_true", help="ratios as the last line")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
