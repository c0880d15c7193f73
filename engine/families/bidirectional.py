"""Fills a canvas that is seen whole, between its prefix and its suffix.

What prefix and suffix are to the model changes with every commit, if little: their keys
and values are frozen for some commits and then computed anew. That is an approximation
(Fast-dLLM's dual cache, arXiv 2505.22618, here with a suffix that is text); with
``cache`` off every pass computes all.
"""

from collections.abc import Generator, Sequence

import torch
from torch import Tensor

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.errors import CanvasError

from .cache import Cache
from .commit import Drawn, draw_ancestral, draw_likeliest, replan
from .decoder import Rows
from .decoding import Decoding, Sampling, draw, take
from .draft import Draft, broken, fill_all, finish, is_full
from .edit import grow_and_shrink
from .length import nearby, search
from .parts import Allowed, Parts
from .run import Ask, Job, Model, Stopped
from .tokens import Heal
from .turns import Turn, take_turns


class Bidirectional:
    """A `Filler` for models that attend to the whole of prefix, canvas and suffix."""

    def __init__(self, parts: Parts) -> None:
        """Fill with the model of ``parts``."""
        self._parts = parts
        self._mask_id = parts.mask_id
        expand_id = parts.family.expand_id
        self._free = frozenset({expand_id} if expand_id else set())

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times."""
        return fill_all(self._parts, self._job, canvases, draws, stop)

    def _job(self, canvas: Canvas, how: Sampling, heal: Heal) -> Job:
        around = self._around(canvas)
        allowed = Allowed(self._parts, canvas, heal, self._free)
        draft = Draft(0, self._mask_id)
        stopped = False
        try:
            n_masks = yield from self._length(canvas, around, allowed)
            draft = Draft(n_masks, self._mask_id)
            yield from self._denoise(canvas, around, draft, how, allowed)
        except Stopped:
            stopped = True
        n_decided = draft.n_decided
        return finish(
            draft.token_ids[:n_decided].tolist(),
            draft.log_probabilities[:n_decided].tolist(),
            self._parts.tokens,
            canvas,
            around.counts,
            stopped,
        )

    def _around(self, canvas: Canvas) -> "_Around":
        """Return prefix and suffix as tokens; refuse what the window cannot hold."""
        tokens, family = self._parts.tokens, self._parts.family
        before, after = self._parts.surround(canvas)
        needed = len(before) + len(after) + canvas.room
        if needed > tokens.window:
            raise CanvasError(
                f"prefix, suffix and canvas have {needed} tokens, {family.name} sees "
                f"{tokens.window}; lower the budgets of prefix and suffix"
            )
        return _Around(
            self._parts.model, before, after, family.shift, self._parts.decoding
        )

    def _length(
        self, canvas: Canvas, around: "_Around", allowed: Allowed
    ) -> Generator[Ask, Tensor, int]:
        """Return the masks to start with, by the length policy."""
        room, decoding = canvas.room, self._parts.decoding
        match decoding.length:
            case "shrink":
                return room
            case "nearby":
                tokens = self._parts.tokens
                return nearby(canvas, lambda text: len(tokens.encode(text)))
            case "search":
                probe = search(min(8, room), room)
                try:
                    length = next(probe)
                    while True:
                        masks = torch.full((length,), self._mask_id)
                        logits = around.places((yield around.ask_all(masks)))
                        sure = allowed.anywhere(logits).softmax(-1).amax(-1)
                        length = probe.send(float(sure.mean()))
                except StopIteration as done:
                    found: int = done.value
                    return found
        return min(decoding.canvas, room)

    def _denoise(
        self,
        canvas: Canvas,
        around: "_Around",
        draft: Draft,
        how: Sampling,
        allowed: Allowed,
    ) -> Generator[Ask, Tensor, None]:
        parts, n_most = self._parts, canvas.room
        expand_id = parts.family.expand_id
        n_growth = 2 * n_most  # so that growing and shrinking come to an end
        answer: Tensor | None = None
        for turn in take_turns(draft, parts.decoding, parts.family):
            if answer is None:
                answer = around.places((yield around.ask(draft.token_ids)))
            logits = allowed(answer, places=draft.token_ids.tolist())
            if expand_id and (len(draft) >= n_most or n_growth <= 0):
                logits[:, expand_id] = float("-inf")
            before = draft.token_ids
            taken = self._commit(logits, draft, turn, how)
            if taken is None:
                return
            n_changed = int((before != draft.token_ids).sum())
            if n_changed:
                answer = None  # else the same pass would give the same
            around.committed(n_changed)
            if expand_id is not None:
                n_growth -= self._resize(draft, around, taken, n_most)
            if parts.watch:
                parts.watch(draft.seen(around.forwards))
            decided = draft.token_ids[: draft.n_decided].tolist()
            if is_full(decided, parts.tokens, canvas):
                return

    def _commit(
        self, logits: Tensor, draft: Draft, turn: Turn, how: Sampling
    ) -> Tensor | None:
        """Decide places; return which, or None where logits are no numbers."""
        decoding, masked = self._parts.decoding, turn.masked
        if decoding.commit == "ancestral":
            drawn = self._ancestral(logits, turn, how)
            taken = masked & (drawn.token_ids != self._mask_id)
        else:
            drawn = draw(logits, how, self._parts.family)
            if decoding.commit == "p2":
                sure = drawn.confidence.masked_fill(~turn.inside, float("inf"))
                taken, remasked = replan(sure, masked, turn.n_masks)
                draft.remask(remasked)
            else:
                taken = take(logits, drawn, masked, decoding, turn.n_places, how)
        if broken(drawn):
            return None
        draft.commit(taken, drawn)
        return taken

    def _ancestral(self, logits: Tensor, turn: Turn, how: Sampling) -> Drawn:
        """Draw tokens and masks; behind the last noise level, the likeliest tokens."""
        if turn.levels is None:
            drawn = draw_likeliest(logits)
        else:
            drawn = draw_ancestral(
                logits,
                how.temperature or 1.0,
                turn.levels,
                self._mask_id,
                how.generator,
            )
        return Drawn(drawn.token_ids.cpu(), drawn.confidence.cpu())

    def _resize(
        self, draft: Draft, around: "_Around", taken: Tensor, n_most: int
    ) -> int:
        """Insert and delete places as the model asks; return how many it inserted."""
        expand_id = self._parts.family.expand_id
        delete_id = self._parts.tokens.end_id
        assert expand_id is not None
        token_ids = draft.token_ids.tolist()
        delete_id = -1 if delete_id is None else delete_id
        grown = grow_and_shrink(
            token_ids, taken.tolist(), expand_id, delete_id, self._mask_id
        )
        if grown.token_ids != token_ids:
            draft.rearrange(grown.token_ids[:n_most], grown.origins[:n_most])
            around.forget()
        return token_ids.count(expand_id)


class _Around:
    """Prefix and suffix of one canvas, computed with it or frozen for some commits."""

    def __init__(
        self,
        model: Model,
        before: list[int],
        after: list[int],
        shift: bool,
        decoding: Decoding,
    ) -> None:
        self._model = model
        self._after = after
        # The row that predicts the first place is fed with the canvas.
        n_lead = 1 if shift and before else 0
        self._lead = before[len(before) - n_lead :]
        self._before = before[: len(before) - n_lead]
        self._shift = shift
        self._decoding = decoding
        self._cache: Cache | None = None
        self._fresh = False
        self._n_since = 0
        self.forwards = self._n_fed = self._n_cached = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.forwards, self._n_fed, self._n_cached

    def ask(self, token_ids: Tensor) -> Ask:
        """Ask for a pass over the canvas, what is around it frozen if it may be."""
        if self._fresh:
            assert self._cache is not None
            self._cache.keep([*self._before, *self._after])
            self._fresh = False
        due = self._n_since >= self._decoding.refresh
        if self._cache is None or due or not self._decoding.cache:
            return self.ask_all(token_ids, keep=self._decoding.cache)
        fed = [*self._lead, *token_ids.tolist()]
        start = len(self._before)
        self.forwards += 1
        self._n_fed += len(fed)
        self._n_cached += len(self._before) + len(self._after)
        positions = torch.arange(start, start + len(fed))
        return Ask(Rows(torch.tensor(fed), positions, self._cache))

    def ask_all(self, token_ids: Tensor, keep: bool = False) -> Ask:
        """Ask for a pass over everything; rows to be frozen come first."""
        fed = [*self._lead, *token_ids.tolist()]
        start, end = len(self._before), len(self._before) + len(fed)
        kept = [*self._before, *self._after]
        positions = torch.cat(
            [
                torch.arange(start),
                torch.arange(end, end + len(self._after)),
                torch.arange(start, end),
            ]
        )
        cache = self._model.new_cache()
        self._cache, self._fresh, self._n_since = (cache if keep else None), keep, 0
        self.forwards += 1
        self._n_fed += len(kept) + len(fed)
        return Ask(Rows(torch.tensor(kept + fed), positions, cache), len(kept))

    def places(self, logits: Tensor) -> Tensor:
        """Return the logits of the canvas's places from those of the rows fed."""
        if not self._shift:
            return logits
        return logits[:-1] if self._lead else torch.cat([logits[:1], logits[:-1]])

    def committed(self, n_places: int) -> None:
        self._n_since += n_places

    def forget(self) -> None:
        """Drop what is frozen: places behind the canvas have moved."""
        self._cache, self._fresh = None, False
