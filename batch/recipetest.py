"""A recipe's own tests: a text before and after, with fills in place of the model."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.files import decode_source

from .document import Document
from .edits import Edit
from .fill import FillOptions, Job, fill_jobs
from .recipe import Recipe, RecipeTest
from .report import Colours, diff_lines
from .width import Width


class _Texts:
    """A filler that writes given texts, one a canvas, and nothing after the last."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = iter(texts)

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        return [[Fill(next(self._texts, ""), 0.0, 1, "end")] for _ in canvases]


def failures(recipe: Recipe) -> Iterator[str]:
    """Yield a diff from the wanted to the found text for each test that fails."""
    for number, test in enumerate(recipe.tests, 1):
        found = _after(recipe, test)
        if found != test.after:
            name = f"{recipe.name or 'recipe'}, test {number}"
            yield "".join(diff_lines(test.after, found, name, Colours()))


def _after(recipe: Recipe, test: RecipeTest) -> str:
    source = decode_source(Path(f"test.{test.language}"), test.before.encode())
    document = Document(source, test.language)
    filler = _Texts(test.fills)
    for step in recipe.steps:
        targets = document.targets(step)
        jobs = [Job(document.parsed, target, step) for target in targets]
        edits = []
        for place, outcome in fill_jobs(jobs, filler, FillOptions(1), Width(1)):
            target = targets[place]
            old = document.parsed.text[target.start : target.end]
            if not outcome.gate:
                edits.append(Edit(target.start, target.end, old, outcome.text))
        document.take_step(edits)
    return document.parsed.text
