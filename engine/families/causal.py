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
from .decoding import Decoding, Sampling, draw
from .draft import allow_first, broken, fill_all, finish, is_full
from .family import Family
from .run import Ask, Job, Model, Seen, Stopped, Watch
from .tokens import FamilyTokens

_N_DRAFTED = 8


class Causal:
    """A `Filler` for models that were trained to write token by token."""

    def __init__(
        self,
        model: Model,
        tokens: FamilyTokens,
        family: Family,
        decoding: Decoding,
        watch: Watch | None = None,
    ) -> None:
        """Fill with ``model``; ``watch`` is shown the text after every pass."""
        self._model, self._tokens, self._family = model, tokens, family
        self._watch = watch
        ruled_out = tokens.special_ids - tokens.end_ids
        self._ruled_out = torch.tensor(
            sorted(ruled_out), dtype=torch.int64, device=model.device
        )
        self._pool = CachePool(model.new_cache, 1, on=decoding.cache)

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times."""
        return fill_all(self._model, self._tokens, self._job, canvases, draws, stop)

    def _job(self, canvas: Canvas, how: Sampling, first: Sequence[int]) -> Job:
        prompt = self._prompt(canvas)
        text = _Written(prompt)
        cache = self._pool.borrow(prompt[:-1])
        n_cached = len(cache.token_ids)
        stopped = False
        try:
            yield from self._write(canvas, text, cache, how, first)
        except Stopped:
            stopped = True
        self._pool.give_back(cache)
        return finish(
            text.token_ids[: canvas.room],
            text.log_probabilities[: canvas.room],
            self._tokens,
            canvas,
            (text.forwards, text.n_fed, n_cached),
            stopped,
        )

    def _prompt(self, canvas: Canvas) -> list[int]:
        tokens, order = self._tokens, self._family.fim
        prompt = tokens.fim_prompt(order, canvas.context) if order else None
        if prompt is None:
            raise ModelError(
                f"{self._family.name}: the tokenizer has no fill-in-the-middle tokens"
            )
        prompt += tokens.encode(canvas.given)
        if self._family.begins and tokens.begin_id is not None:
            prompt = [tokens.begin_id, *prompt]
        if len(prompt) + canvas.room > tokens.window:
            raise CanvasError(
                f"prompt and canvas have {len(prompt) + canvas.room} tokens, "
                f"{self._family.name} sees {tokens.window}; lower the budgets"
            )
        return prompt

    def _write(
        self,
        canvas: Canvas,
        text: "_Written",
        cache: Cache,
        how: Sampling,
        healing: Sequence[int],
    ) -> Generator[Ask, Tensor, None]:
        look_up = LookUp()
        while len(text.token_ids) < canvas.room:
            known = text.prompt + text.token_ids
            draft: list[int] = []
            if how.temperature == 0:  # A draw at random has no draft to agree with.
                draft = look_up.draft(known, _N_DRAFTED)
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
            logits = (yield Ask(rows, first)).index_fill(
                1, self._ruled_out, float("-inf")
            )
            if not text.token_ids:
                logits = allow_first(logits, healing)
            drawn = draw(logits, how, self._family)
            if broken(drawn):
                return
            token_ids = drawn.token_ids.tolist()
            agreed = [d == t for d, t in zip(draft, token_ids, strict=False)]
            n_agreed = agreed.index(False) if False in agreed else len(agreed)
            cache.keep(fed[: first + 1 + n_agreed])
            scores = drawn.confidence.float().log().tolist()
            text.token_ids += token_ids[: n_agreed + 1]
            text.log_probabilities += scores[: n_agreed + 1]
            if self._watch:
                self._watch(text.seen())
            if is_full(text.token_ids, self._tokens, canvas):
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
