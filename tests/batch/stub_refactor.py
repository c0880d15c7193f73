"""`niello refactor` as a process, with a stub in place of the model.

    python stub_refactor.py PLAN.json refactor PATHS ...

PLAN.json: `outputs` (texts by canvas, in order, again from the first when used up;
later lines are indented relative to the span), `prompts` (a file for every prompt),
`seconds` (a pause a call), `full_disk` (user files take no more than 10 bytes),
`line_end` (what the platform calls a line end), `usage` (a file for the peak memory),
`debug` (log everything). Without `outputs` each canvas gets a number of its own.
"""

import errno
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from niello import cli
from niello.batch import command
from niello.infill import files
from niello.infill.canvas import Canvas, Draws, Fill, StopFlag

Key = tuple[str, str, str]


class StubFiller:
    """Writes the texts of a plan; the same canvas always gets the same text."""

    def __init__(
        self, outputs: Sequence[str], prompts: Path | None = None, seconds: float = 0.0
    ) -> None:
        self._outputs = outputs
        self._prompts = prompts
        self._seconds = seconds
        self._known: dict[Key, str] = {}

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        time.sleep(self._seconds)
        return [[self._fill(canvas)] * draws.n for canvas in canvases]

    def _fill(self, canvas: Canvas) -> Fill:
        prefix, suffix, extra, _ = canvas.context
        if self._prompts:
            with self._prompts.open("a", encoding="utf-8") as out:
                out.write("".join([extra, prefix, canvas.given, suffix]))
        key = (prefix, canvas.given, suffix)
        if key not in self._known:
            text = self._outputs[len(self._known) % len(self._outputs)]
            line = (prefix + canvas.given).rpartition("\n")[2]
            indent = line[: len(line) - len(line.lstrip())]
            self._known[key] = text.replace("\n", "\n" + indent)
        text = self._known[key]
        return Fill(text, -0.1, 1, "end", len(text) // 3 + 1)


class HashFiller:
    """Writes a number that depends on the canvas alone, whatever was asked before."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        import zlib

        time.sleep(self._seconds)
        rows = []
        for canvas in canvases:
            context = canvas.context
            seen = "".join([context.prefix, canvas.given, context.suffix])
            number = zlib.crc32(seen.encode())
            # Now and then a text that no gate lets through.
            text = ")(" if number % 11 == 0 else str(number)
            rows.append([Fill(text, -0.1, 1, "end", 3)])
        return rows


def main() -> int:
    plan = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    if plan.get("debug"):
        logging.basicConfig(level=logging.DEBUG)
    if plan.get("full_disk"):
        _fill_disk()
    if "line_end" in plan:
        os.linesep = plan["line_end"]
    seconds = plan.get("seconds", 0.0)
    if "outputs" in plan:
        prompts = Path(plan["prompts"]) if plan.get("prompts") else None
        filler: HashFiller | StubFiller = StubFiller(plan["outputs"], prompts, seconds)
    else:
        filler = HashFiller(seconds)
    command.load_engine = lambda model: filler
    status = cli.main(sys.argv[2:])
    if "usage" in plan:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        Path(plan["usage"]).write_text(str(peak), "utf-8")
    return int(status)


def _fill_disk() -> None:
    real_write = files.os.write

    def write(descriptor: int, data: bytes) -> int:
        if os.fstat(descriptor).st_size >= 10:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real_write(descriptor, data[:10])

    files.os.write = write  # type: ignore[assignment]


if __name__ == "__main__":
    sys.exit(main())
