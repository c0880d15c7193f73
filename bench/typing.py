"""``niello bench typing FILE``: a file's middle typed through the real server.

Shows that a keystroke costs what was typed and not the file: tokens computed a
keystroke, the share of the prompt found in the cache, the time from change to answer.
"""

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from niello.grammars.catalogue import language_of
from niello.infill.errors import SourceError

from .client import Client

_WARM_UP = 10  # keystrokes that are not counted
SERVE = [sys.executable, "-m", "niello", "serve"]


class Typing(NamedTuple):
    """What typing cost, a keystroke."""

    keystrokes: int
    from_memory: float  # share answered without the model
    cache_hit_rate: float  # tokens of prompts found in the cache
    tokens_per_keystroke: float  # computed: of the context, typed, and filled
    filled_per_keystroke: float  # of these, written into answers
    guesses_per_keystroke: float  # drafts and masks computed beside, and dropped
    forwards_per_answer: float
    shown: float  # share of keystrokes with an offer
    right: float  # share of offers that are the rest of the line as it was
    ms_p50: float
    ms_p95: float


def main(options: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser("niello bench typing", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--keys", type=int, default=200, metavar="N", help="how many keys (200)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args(options)
    path: Path = arguments.file
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: {error}") from error
    client = Client(SERVE)
    try:
        found = type_through(client, text, path, arguments.keys)
        client.close()
    finally:
        client.kill()
    if arguments.json:
        print(json.dumps(found._asdict()))
    else:
        for name, value in found._asdict().items():
            print(f"{name:24}{value:10.3g}")
    return 0


def type_through(client: Client, text: str, path: Path, n_keys: int) -> Typing:
    """Type ``n_keys`` keys of the middle of ``text`` into the rest of it."""
    # Work ahead of time is off: the tokens counted are then those of the answers.
    client.initialize(initializationOptions={"inline": {"ahead": False}})
    client.wait_for_note("niello/status", 600, kind="ready")
    uri = path.resolve().as_uri()
    # Whole lines are typed on an empty one, so that nothing stands behind the cursor.
    start = text.rfind("\n", 0, max(len(text) - n_keys, 0) // 2) + 1
    end = text.find("\n", min(start + n_keys + _WARM_UP, len(text)))
    typed = text[start : end if end > 0 else len(text)]
    rest = text[start + len(typed) :]
    client.open(uri, text[:start] + rest, language_of(path))
    line, column = text.count("\n", 0, start), 0
    times: list[float] = []
    asked = shown = right = 0
    before: Mapping[str, int] = {}
    for number, key in enumerate(typed):
        if number == _WARM_UP:
            before = client.request("niello/counters", None)
            times.clear()
            asked = shown = right = 0
        fills = client.request("niello/counters", None)["fills"]
        place = (line, column)
        changed = client.change(uri, number + 2, place, place, key)
        line, column = (line + 1, 0) if key == "\n" else (line, column + _units(key))
        request = client.ask_inline(uri, (line, column), automatic=True)
        items = client.wait(request)["result"]["items"]
        if items:
            shown += 1
            offered = items[0]["insertText"].split("\n", 1)[0]
            right += offered == typed[number + 1 :].split("\n", 1)[0]
        times.append((client.arrived[request] - changed) * 1000)
        asked += client.request("niello/counters", None)["fills"] > fills
    after = client.request("niello/counters", None)
    spent = {name: after[name] - before.get(name, 0) for name in after}
    n_times, kept = len(times), spent["fed"] - spent["dropped"]
    return Typing(
        n_times,
        1 - asked / n_times,
        spent["cached"] / max(spent["cached"] + kept, 1),
        kept / n_times,
        spent["tokens"] / n_times,
        spent["dropped"] / n_times,
        spent["forwards"] / max(asked, 1),
        shown / n_times,
        right / max(shown, 1),
        percentile(times, 0.5),
        percentile(times, 0.95),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def _units(key: str) -> int:
    return 2 if ord(key) > 0xFFFF else 1
