"""Fills a canvas with an autoregressive model: no diffusion, but a free draft.

What followed the same tokens before, in the prompt or in the fill, is checked by the
pass that would have written one token. The text is the model's own greedy text,
whatever the draft.
"""

from collections.abc import Generator, Sequence

import torch
from torch import Tensor

from niello.engine.draft import LookUp
from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.errors import CanvasError, ModelError

from .cache import Cache, CachePool
from .decoder import Rows, block_causal
from .decoding import Sampling, draw
from .draft import broken, fill_all, finish, is_full
from .parts import Allowed, Parts
from .run import Ask, Job, Seen, Stopped
from .tokens import Heal

_N_DRAFTED = 8


class Causal:
    """A `Filler` for models that were trained to write token by token."""

    def __init__(self, parts: Parts) -> None:
        """Fill with the model of ``parts``."""
        self._parts = parts
        self._pool = CachePool(parts.model.new_cache, 1, on=parts.decoding.cache)

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times."""
        return fill_all(self._parts, self._job, canvases, draws, stop)

    def _job(self, canvas: Canvas, how: Sampling, heal: Heal) -> Job:
        prompt = self._prompt(canvas)
        text = _Written(prompt)
        cache = self._pool.borrow(prompt[:-1])
        n_cached = len(cache.token_ids)
        stopped = False
        try:
            yield from self._write(
                canvas, text, cache, how, Allowed(self._parts, canvas, heal)
            )
        except Stopped:
            stopped = True
        self._pool.give_back(cache)
        return finish(
            text.token_ids[: canvas.room],
            text.log_probabilities[: canvas.room],
            self._parts.tokens,
            canvas,
            (text.forwards, text.n_fed, n_cached),
            stopped,
        )

    def _prompt(self, canvas: Canvas) -> list[int]:
        tokens, family = self._parts.tokens, self._parts.family
        order = family.fim
        prompt = tokens.fim_prompt(order, canvas.context) if order else None
        if prompt is None:
            raise ModelError(
                f"{family.name}: the tokenizer has no fill-in-the-middle tokens"
            )
        prompt += tokens.encode(canvas.given)
        if family.begins and tokens.begin_id is not None:
            prompt = [tokens.begin_id, *prompt]
        if len(prompt) + canvas.room > tokens.window:
            raise CanvasError(
                f"prompt and canvas have {len(prompt) + canvas.room} tokens, "
                f"{family.name} sees {tokens.window}; lower the budgets"
            )
        return prompt

    def _write(
        self,
        canvas: Canvas,
        text: "_Written",
        cache: Cache,
        how: Sampling,
        allowed: Allowed,
    ) -> Generator[Ask, Tensor, None]:
        look_up = LookUp()
        while len(text.token_ids) < canvas.room:
            known = text.prompt + text.token_ids
            draft: list[int] = []
            if how.temperature == 0:  # A draw at random has no draft to agree with.
                draft = look_up.draft(known, _N_DRAFTED).token_ids
            fed = [*known[len(cache.token_ids) :], *draft]
            start = len(cache.token_ids)
            text.forwards += 1
            text.n_fed += len(fed)
            rows = Rows(
                torch.tensor(fed),
                torch.arange(start, start + len(fed)),
                cache,
                block_causal(len(fed), 1),
            )
            first = len(fed) - len(draft) - 1
            logits = allowed((yield Ask(rows, first)), text.token_ids, draft)
            drawn = draw(logits, how, self._parts.family)
            if broken(drawn):
                return
            token_ids = drawn.token_ids.tolist()
            agreed = [d == t for d, t in zip(draft, token_ids, strict=False)]
            n_agreed = agreed.index(False) if False in agreed else len(agreed)
            cache.keep(fed[: first + 1 + n_agreed])
            scores = drawn.confidence.float().log().tolist()
            text.token_ids += token_ids[: n_agreed + 1]
            text.log_probabilities += scores[: n_agreed + 1]
            if self._parts.watch:
                self._parts.watch(text.seen())
            if is_full(text.token_ids, self._parts.tokens, canvas):
                return


class _Written:
    """What a job has written after its prompt."""

    def __init__(self, prompt: list[int]) -> None:
        self.prompt = prompt
        self.token_ids: list[int] = []
        self.log_probabilities: list[float] = []
        self.forwards = self.n_fed = 0

    def seen(self) -> Seen:
        masked = [False] * len(self.token_ids)
        return Seen(
            list(self.token_ids), masked, list(self.log_probabilities), self.forwards
        )
