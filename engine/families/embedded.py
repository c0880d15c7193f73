"""Fills a canvas by models that denoise vectors, not tokens.

Prefix and suffix are the vectors of their tokens, clamped in every pass; the canvas
starts as noise and is read as tokens once, at the end.
"""

from collections.abc import Generator, Sequence
from typing import Protocol

import torch
from torch import Tensor

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.errors import CanvasError

from .decoder import Rows
from .decoding import Sampling
from .draft import fill_all, finish
from .length import nearby
from .parts import Allowed, Parts
from .run import Ask, Job, Model, Seen, Stopped
from .tokens import Heal

Denoising = Generator[Tensor, Tensor, Tensor]
"""Asks for the hidden states of vectors ``(n_context + time, width)``; returns logits
``(time, vocabulary)``."""


class Denoiser(Protocol):
    """A family's model and sampler."""

    @property
    def model(self) -> Model:
        """What rows are given to; its logits are its hidden states."""
        ...

    @property
    def n_context(self) -> int:
        """How many rows stand in front of those of the text."""
        ...

    def sample(self, token_ids: Tensor, fixed: Tensor, how: Sampling) -> Denoising:
        """Denoise the places ``(time,)`` that are not fixed."""
        ...


class Embedded:
    """A `Filler` for models of continuous embeddings, seen whole."""

    def __init__(self, parts: Parts, denoiser: Denoiser) -> None:
        """Fill with ``denoiser``, whose model is that of ``parts``."""
        self._parts, self._denoiser = parts, denoiser

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times; the seed chooses the noise."""
        return fill_all(self._parts, self._job, canvases, draws, stop)

    def _job(self, canvas: Canvas, how: Sampling, heal: Heal) -> Job:
        tokens, watch = self._parts.tokens, self._parts.watch
        before, n_places, after = self._around(canvas)
        token_ids: list[int] = []
        scores: list[float] = []
        n_rows = len(before) + n_places + len(after)
        forwards = 0
        stopped = False
        try:
            sample = self._sample(before, n_places, after, how)
            vectors = next(sample)
            while n_places:
                forwards += 1
                vectors = sample.send((yield self._ask(vectors)))
        except StopIteration as done:
            allowed = Allowed(self._parts, canvas, heal)
            logits = allowed(done.value[len(before) :][:n_places])
            best = logits.log_softmax(-1).max(-1)
            token_ids, scores = best.indices.tolist(), best.values.tolist()
            if watch:
                watch(Seen(token_ids, [False] * n_places, scores, forwards))
        except Stopped:
            stopped = True
        counts = forwards, forwards * n_rows, 0
        return finish(token_ids, scores, tokens, canvas, counts, stopped)

    def _around(self, canvas: Canvas) -> tuple[list[int], int, list[int]]:
        """Return the tokens before, the number of places, the tokens after."""
        tokens, family = self._parts.tokens, self._parts.family
        decoding = self._parts.decoding
        before, after = self._parts.surround(canvas)
        n_places = min(decoding.canvas, canvas.room)
        if decoding.length == "nearby":
            n_places = nearby(canvas, lambda text: len(tokens.encode(text)))
        needed = len(before) + n_places + len(after)
        if needed > tokens.window:
            raise CanvasError(
                f"prefix, suffix and canvas have {needed} tokens, {family.name} sees "
                f"{tokens.window}; lower the budgets of prefix and suffix"
            )
        return before, n_places, after

    def _sample(
        self, before: list[int], n_places: int, after: list[int], how: Sampling
    ) -> Denoising:
        device = self._parts.model.device
        token_ids = torch.tensor([*before, *([0] * n_places), *after], device=device)
        places = torch.arange(len(token_ids), device=device)
        canvas = (places >= len(before)) & (places < len(before) + n_places)
        return self._denoiser.sample(token_ids, ~canvas, how)

    def _ask(self, vectors: Tensor) -> Ask:
        n_context = self._denoiser.n_context
        positions = (torch.arange(len(vectors)) - n_context).clamp(min=0)
        rows = Rows(
            torch.zeros(len(vectors), dtype=torch.int64),
            positions,
            self._parts.model.new_cache(),
            vectors=vectors,
        )
        return Ask(rows, n_context)
