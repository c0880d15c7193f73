"""The real server over standard input and output, with a model that follows a script.

``NIELLO_STUB`` names a JSON file: ``texts`` (one a draw, the last repeated), ``ms`` a
call takes, ``step_ms`` between two looks at the stop flag, ``load_ms``, ``record`` (a
file that gets one JSON line a call), ``score``. A model named ``stub:TEXT`` writes
TEXT. The notification ``stub/raise {call, error}`` makes a later call raise,
``stub/set`` changes the fields of the script.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.lsp.jobs import Priority
from niello.lsp.layers import Layers, read_environment
from niello.lsp.serve import serve
from niello.lsp.server import create_server
from niello.lsp.settings import Settings
from niello.lsp.status import Progress


class OutOfMemoryError(RuntimeError):
    """Named as torch names its own."""


class StubFiller:
    """Writes the script's texts, slowly if so told, and notes what it was asked."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.script = script
        self.n_calls = 0
        self.raises: dict[int, str] = {}
        self.n_forgotten = 0

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        self.n_calls += 1
        self._note(canvases)
        if error := self.raises.pop(self.n_calls, ""):
            raise OutOfMemoryError if "memory" in error.lower() else RuntimeError(error)
        waited, step = 0.0, self.script.get("step_ms", 5)
        while waited < self.script.get("ms", 0):
            time.sleep(min(step, self.script["ms"] - waited) / 1000)
            waited += step
            if stop():
                return [[] for _ in canvases]
        return [[self._write(canvas, n) for n in range(draws.n)] for canvas in canvases]

    def clear_caches(self) -> None:
        self.n_forgotten += 1

    def _write(self, canvas: Canvas, draw: int) -> Fill:
        texts = self.script.get("texts", [""])
        text = texts[min(draw, len(texts) - 1)]
        full = canvas.stop(canvas.given + text)
        if full is not None:
            text = (canvas.given + text)[len(canvas.given) : full]
        reason = "end" if full is None else "span"
        return Fill(text, self.script.get("score", -0.1), 1, reason, len(text) // 4 + 1)

    def _note(self, canvases: Sequence[Canvas]) -> None:
        if "record" not in self.script:
            return
        with open(self.script["record"], "a", encoding="utf-8") as file:
            for canvas in canvases:
                context = canvas.context
                line = [context.prefix, canvas.given, context.suffix, context.extra]
                file.write(json.dumps(line) + "\n")


class Heart:
    """Beats on the event loop and remembers the longest pause between two beats."""

    def __init__(self) -> None:
        self.beating: asyncio.Task[None] | None = None
        self.longest = {"cpu_ms": 0.0, "wait_ms": 0.0}

    def read(self) -> dict[str, float]:
        """Return the longest pause since the last time, and begin anew."""
        if self.beating is None:
            self.beating = asyncio.get_running_loop().create_task(self._beat())
        found, self.longest = self.longest, {"cpu_ms": 0.0, "wait_ms": 0.0}
        return found

    async def _beat(self) -> None:
        while True:
            cpu, wall = time.thread_time(), time.monotonic()
            await asyncio.sleep(0.002)
            for name, spent in (
                ("cpu_ms", time.thread_time() - cpu),
                ("wait_ms", time.monotonic() - wall - 0.002),
            ):
                self.longest[name] = max(self.longest[name], spent * 1000)


def main() -> None:
    path = os.environ.get("NIELLO_STUB")
    script = json.loads(Path(path).read_text("utf-8")) if path else {}
    fillers: list[StubFiller] = []

    def load(settings: Settings, progress: Progress) -> StubFiller:
        time.sleep(script.get("load_ms", 0) / 1000)
        kind, _, text = settings.model.partition(":")
        filler = StubFiller({**script, "texts": [text]} if kind == "stub" else script)
        fillers.append(filler)
        return filler

    layers = Layers()
    layers.replace("environment", read_environment(os.environ))
    server = create_server(load, layers)

    @server.feature("stub/raise")
    def raise_later(params: dict[str, Any]) -> None:
        filler = fillers[-1]
        filler.raises[filler.n_calls + params["call"]] = params["error"]

    @server.feature("stub/set")
    def set_script(params: dict[str, Any]) -> None:
        script.update(params)

    @server.feature("stub/settle")
    def settle(params: dict[str, Any]) -> Any:
        """Answer when all work that is queued now is done."""
        return server.holder.jobs.submit(lambda stop: None, Priority.AHEAD)

    heart = Heart()

    @server.feature("stub/heartbeat")
    def heartbeat(params: dict[str, Any]) -> dict[str, float]:
        return heart.read()

    @server.feature("stub/state")
    def state(params: dict[str, Any]) -> dict[str, Any]:
        return {
            "n_calls": sum(each.n_calls for each in fillers),
            "n_forgotten": sum(each.n_forgotten for each in fillers),
            "texts": {each.uri: each.text for each in server.documents},
        }

    serve(server, ("127.0.0.1", 0) if script.get("tcp") else None)


if __name__ == "__main__":
    sys.exit(main())
