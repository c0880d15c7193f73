"""Fills a canvas that is seen whole, between its prefix and its suffix.

What prefix and suffix are to the model changes with every commit, if little: their keys
and values are frozen for some commits and then computed anew. That is an approximation
(Fast-dLLM's dual cache, arXiv 2505.22618, here with a suffix that is text); with
``cache`` off every pass computes all.
"""

from collections.abc import Generator, Iterator, Sequence

import torch
from torch import Tensor

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.errors import CanvasError, ModelError

from .cache import Cache
from .commit import even_schedule, linear_schedule
from .decoder import Rows
from .decoding import Decoding, Sampling, draw, take
from .draft import Draft, allow_first, broken, fill_all, finish, is_full
from .edit import grow_and_shrink
from .family import Family
from .length import nearby, search
from .run import Ask, Job, Model, Stopped, Watch
from .tokens import FamilyTokens


class Bidirectional:
    """A `Filler` for models that attend to the whole of prefix, canvas and suffix."""

    def __init__(
        self,
        model: Model,
        tokens: FamilyTokens,
        family: Family,
        decoding: Decoding,
        watch: Watch | None = None,
    ) -> None:
        """Fill with ``model``; ``watch`` is shown the canvas after every pass."""
        if tokens.mask_id is None:
            raise ModelError(f"{family.name}: the checkpoint names no mask token")
        self._model, self._tokens, self._family = model, tokens, family
        self._decoding = decoding.for_family(family)
        self._watch = watch
        self._mask_id = tokens.mask_id
        free = {family.expand_id} if family.expand_id else set()
        ruled_out = tokens.special_ids - tokens.end_ids - free
        self._ruled_out = torch.tensor(
            sorted(ruled_out), dtype=torch.int64, device=model.device
        )

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times."""
        return fill_all(self._model, self._tokens, self._job, canvases, draws, stop)

    def _job(self, canvas: Canvas, how: Sampling, first: Sequence[int]) -> Job:
        around = self._around(canvas)
        draft = Draft(0, self._mask_id)
        stopped = False
        try:
            n_masks = yield from self._length(canvas, around)
            draft = Draft(n_masks, self._mask_id)
            yield from self._denoise(canvas, around, draft, how, first)
        except Stopped:
            stopped = True
        n_decided = draft.n_decided
        return finish(
            draft.token_ids[:n_decided].tolist(),
            draft.log_probabilities[:n_decided].tolist(),
            self._tokens,
            canvas,
            around.counts,
            stopped,
        )

    def _around(self, canvas: Canvas) -> "_Around":
        """Return prefix and suffix as tokens; refuse what the window cannot hold."""
        tokens, family = self._tokens, self._family
        context = canvas.context
        before = tokens.encode(context.extra + context.prefix + canvas.given)
        after = tokens.encode(context.suffix)
        if family.begins and tokens.begin_id is not None:
            before = [tokens.begin_id, *before]
        if family.ends and tokens.end_id is not None:
            after = [*after, tokens.end_id]
        needed = len(before) + len(after) + canvas.room
        if needed > tokens.window:
            raise CanvasError(
                f"prefix, suffix and canvas have {needed} tokens, {family.name} sees "
                f"{tokens.window}; lower the budgets of prefix and suffix"
            )
        return _Around(self._model, before, after, family.shift, self._decoding)

    def _length(self, canvas: Canvas, around: "_Around") -> Generator[Ask, Tensor, int]:
        """Return the masks to start with, by the length policy."""
        room, start = canvas.room, min(self._decoding.canvas, canvas.room)
        match self._decoding.length:
            case "shrink":
                return room
            case "nearby":
                return nearby(canvas, lambda text: len(self._tokens.encode(text)))
            case "search":
                probe = search(min(8, room), room)
                try:
                    length = next(probe)
                    while True:
                        masks = torch.full((length,), self._mask_id)
                        logits = yield around.ask_all(masks)
                        sure = self._allowed(around.places(logits)).softmax(-1).amax(-1)
                        length = probe.send(float(sure.mean()))
                except StopIteration as done:
                    found: int = done.value
                    return found
        return start

    def _denoise(
        self,
        canvas: Canvas,
        around: "_Around",
        draft: Draft,
        how: Sampling,
        first: Sequence[int],
    ) -> Generator[Ask, Tensor, None]:
        n_most = canvas.room
        n_growth = 2 * n_most  # so that growing and shrinking come to an end
        for open_places, n_places in self._windows(draft):
            logits = yield around.ask(draft.token_ids)
            logits = allow_first(self._allowed(around.places(logits)), first)
            if self._family.expand_id and (len(draft) >= n_most or n_growth <= 0):
                logits[:, self._family.expand_id] = float("-inf")
            drawn = draw(logits, how, self._family)
            if broken(drawn):
                return
            taken = take(logits, drawn, open_places, self._decoding, n_places)
            draft.commit(taken, drawn)
            around.committed(int(taken.sum()))
            if self._family.expand_id is not None:
                n_growth -= self._resize(draft, around, taken, n_most)
            if self._watch:
                self._watch(draft.seen(around.forwards))
            if is_full(
                draft.token_ids[: draft.n_decided].tolist(), self._tokens, canvas
            ):
                return

    def _windows(self, draft: Draft) -> Iterator[tuple[Tensor, int]]:
        """Yield, pass by pass, the places that may be decided and how many should be.

        With a block size the canvas is decided from left to right, a block at a time.
        """
        block = self._decoding.block or len(draft) or 1
        n_blocks = -(-len(draft) // block)
        steps = max(1, self._decoding.steps // n_blocks) if n_blocks else 1
        start = 0
        while start < len(draft):
            places = torch.arange(len(draft))
            inside = (places >= start) & (places < start + block)
            schedule: Iterator[int] = iter(())
            if self._decoding.steps:
                n_masks = int((draft.masked & inside).sum())
                fall = linear_schedule if self._family.linear else even_schedule
                # A pass that would commit nothing would change nothing.
                schedule = filter(None, fall(n_masks, steps))
            while True:
                # The canvas may have grown or shrunk since the pass before.
                places = torch.arange(len(draft))
                end = start + block if self._decoding.block else len(draft)
                open_places = draft.masked & (places >= start) & (places < end)
                if not open_places.any():
                    break
                yield open_places, next(schedule, 0)
            start += block if self._decoding.block else max(1, len(draft))

    def _resize(
        self, draft: Draft, around: "_Around", taken: Tensor, n_most: int
    ) -> int:
        """Insert and delete places as the model asks; return how many it inserted."""
        expand_id, delete_id = self._family.expand_id, self._tokens.end_id
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

    def _allowed(self, logits: Tensor) -> Tensor:
        """Rule out masks and control tokens that are no end."""
        return logits.index_fill(1, self._ruled_out, float("-inf"))


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
        self._cache, self._fresh, self._n_since = (
            (cache, True, 0)
            if keep
            else (
                None,
                False,
                0,
            )
        )
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
