"""A desk without a terminal for runs of `niello refactor`, and a filler with texts."""

import io
from collections.abc import Callable, Sequence

from niello.batch import run
from niello.batch.desk import Desk, Manner
from niello.batch.options import RefactorOptions
from niello.batch.report import Colours
from niello.infill.canvas import Canvas, Draws, Fill, Reason, StopFlag


class Texts:
    """Writes the texts it was given, by canvas, the last one again and again."""

    def __init__(self, *texts: str, reason: Reason = "end") -> None:
        self.texts = texts
        self.reason = reason
        self.canvases: list[Canvas] = []
        self.widths: list[int] = []

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        self.widths.append(len(canvases))
        rows = []
        for canvas in canvases:
            text = self.texts[min(len(self.canvases), len(self.texts) - 1)]
            self.canvases.append(canvas)
            rows.append([Fill(text, -0.5, 1, self.reason, 2)])
        return rows


class Bench:
    """Runs the parts of the command in this process and keeps what they say."""

    def __init__(self, answers: str = "") -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        self.desk = Desk(self.out, self.err, io.StringIO(answers), Colours(), False)
        self.loaded = 0

    def refactor(
        self, filler: Texts, manner: Manner | None = None, **options: object
    ) -> int:
        chosen = RefactorOptions(**options)  # type: ignore[arg-type]
        return run.refactor(chosen, manner or Manner(), self.desk, self._load(filler))

    def resume(
        self, filler: Texts, manner: Manner, verify_cmd: str | None = None
    ) -> int:
        load = self._load(filler)
        return run.resume(None, manner, self.desk, load, verify_cmd=verify_cmd)

    def _load(self, filler: Texts) -> Callable[[str], Texts]:
        def load(model: str) -> Texts:
            self.loaded += 1
            return filler

        return load
