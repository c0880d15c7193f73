"""Niello's engine as a contestant, with its drafts or one token a pass.

    python ours.py FOLDER THREADS plain|draft

One JSON request a line, one JSON answer a line; run.py says what they hold.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from niello.engine.engine import Engine
from niello.engine.filling import Limits
from niello.infill.canvas import Canvas, Draws
from niello.infill.context import Context


def main(folder: str, n_threads: str, way: str) -> None:
    """Answer requests until there are no more."""
    start = time.perf_counter()
    engine = Engine.load(Path(folder), n_threads=int(n_threads))
    if way == "plain":
        engine.limits = Limits(n_draft=0)
    _answer({"seconds": time.perf_counter() - start})
    for line in sys.stdin:
        request = json.loads(line)
        if request["cold"]:
            engine.clear_caches()
        _answer(fill(engine, request))


def fill(engine: Engine, request: dict[str, Any]) -> dict[str, float]:
    """Write at most ``n_tokens`` tokens, or one line of them, and tell the time."""
    start = time.perf_counter()
    context = Context(request["prefix"], request["suffix"])
    stop = line_end if request.get("one_line") else goes_on
    canvas = Canvas(context, "", request["n_tokens"], stop)
    [[written]] = engine.fill([canvas], Draws())
    return {
        "seconds": time.perf_counter() - start,
        "n_prompt": len(engine.tokens.prompt(context)),
        # An end token was computed like any other.
        "n_tokens": written.n_tokens + (written.reason == "end"),
    }


def line_end(text: str) -> int | None:
    """Return where the first line with something on it ends."""
    n_blank = len(text) - len(text.lstrip())
    end = text.find("\n", n_blank)
    return end + 1 or None


def goes_on(text: str) -> None:
    """Never find the span full."""


def _answer(value: dict[str, float]) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
