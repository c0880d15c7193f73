"""``niello bench server``: a day of typing, and how long a user waits for an answer.

The day runs with a model that follows a script and takes no time: it shows what the
server itself costs. The latencies are those of the real model.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .client import Client
from .day import Day, Typist, files_of
from .latency import KINDS, Latency, measure
from .stub import start_scripted
from .typing import SERVE

_ROOT = Path(__file__).resolve().parent.parent


def main(options: Sequence[str]) -> int:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser("niello bench server", description=__doc__)
    parser.add_argument("what", choices=["day", "latency"])
    parser.add_argument("--changes", type=int, default=50_000, metavar="N")
    parser.add_argument("--files", type=int, default=30, metavar="N")
    parser.add_argument("--rounds", type=int, default=40, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args(options)
    if arguments.what == "day":
        found = day(arguments.changes, arguments.files, arguments.seed)
        rows = [(name, f"{value:.1f}") for name, value in found._asdict().items()]
        data: object = found._asdict()
    else:
        table = latencies(arguments.rounds)
        rows = [
            (each.kind, f"{each.p50:8.0f} {each.p95:8.0f} {each.p99:8.0f} ms")
            for each in table
        ]
        data = [each._asdict() for each in table]
    if arguments.json:
        print(json.dumps(data))
    else:
        for name, value in rows:
            print(f"{name:34}{value}")
    return 0


def day(n_changes: int, n_files: int, seed: int) -> Day:
    """Replay a day of typing in this package's own sources."""
    sources = sorted((_ROOT / "src" / "niello").glob("*/*.py"))
    texts = [path.read_text("utf-8") for path in sources if path.stat().st_size]
    with tempfile.TemporaryDirectory() as folder:
        client = start_scripted(Path(folder), {"texts": ["value(self)", "a + b"]})
        try:
            # The typist has no rhythm that a debounce could learn from.
            client.initialize(initializationOptions={"inline": {"debounceMs": 0}})
            client.wait_for_note("niello/status", kind="ready")
            typist = Typist(client, files_of(texts, n_files), seed)
            found = typist.type(n_changes, min(8000, n_changes // 5))
            client.close()
        finally:
            client.kill()
    return found


def latencies(n_rounds: int) -> list[Latency]:
    """Measure each kind of wait with the real model."""
    client = Client(SERVE)
    try:
        client.initialize()
        client.wait_for_note("niello/status", 600, kind="ready")
        found = [measure(client, kind, n_rounds) for kind in KINDS]
        client.close()
    finally:
        client.kill()
    return found
