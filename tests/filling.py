"""A filler that writes a given text, and what becomes of it at a marked cursor."""

from collections.abc import Sequence

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.propose import Candidate, Options, propose
from niello.infill.snapshot import Snapshot


class Stub:
    """A filler that writes its texts in turn, each up to where the span is full."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.canvases: list[Canvas] = []

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        self.canvases.extend(canvases)
        return [[self._fill(canvas) for _ in range(draws.n)] for canvas in canvases]

    def _fill(self, canvas: Canvas) -> Fill:
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        end = canvas.stop(canvas.given + text)
        if end is None:
            return Fill(text, 0.0, 1, "end", n_tokens=1)
        return Fill(text[: max(0, end - len(canvas.given))], 0.0, 1, "span", 1)


def propose_at(marked: str, language: str, *texts: str) -> list[Candidate]:
    """Propose at the ``|`` of a text with a filler that writes ``texts`` in turn."""
    text, cursor = marked.replace("|", "", 1), marked.index("|")
    snapshot = Snapshot("file:///a", 1, language, text)
    return propose(snapshot, cursor, Stub(*texts), Options())


def filled(marked: str, language: str, *texts: str) -> str | None:
    """Return the document with the first candidate in it, None if there is none."""
    text = marked.replace("|", "", 1)
    candidates = propose_at(marked, language, *texts)
    if not candidates:
        return None
    span = candidates[0].span
    return text[: span.start] + candidates[0].text + text[span.end :]
