"""Fills a canvas block by block: a block sees itself and everything before it.

Nothing before a block ever changes, so keys and values of finished blocks are exact and
kept, between passes and between requests with the same beginning. A block's clean rows
are computed in the pass that first looks at the next block. The suffix is seen through
the order of the prompt where the vocabulary has tokens for that; else, when the length
is given, its head is the fixed right edge of the last block.
"""

from collections.abc import Generator, Sequence

import torch
from torch import Tensor

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.errors import CanvasError, ModelError

from .blocktext import BlockText, Passes
from .cache import CachePool
from .decoding import Decoding, Sampling, draw, take
from .draft import Draft, allow_first, broken, fill_all, finish, is_full, n_used
from .edit import InDelIds
from .family import Family
from .length import nearby
from .run import Ask, Job, Model, Seen, Stopped, Watch
from .tokens import FamilyTokens


class Blocks:
    """A `Filler` for models whose blocks see what is before them and themselves."""

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
        free = {tokens.delete_id, tokens.split_id}
        free = free if self._decoding.commit == "indel" else set()
        ruled_out = tokens.special_ids - tokens.end_ids - free
        self._ruled_out = torch.tensor(
            sorted(ruled_out), dtype=torch.int64, device=model.device
        )
        self._pool = CachePool(
            model.new_cache, self._decoding.block, on=self._decoding.cache
        )

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times."""
        return fill_all(self._model, self._tokens, self._job, canvases, draws, stop)

    def _job(self, canvas: Canvas, how: Sampling, first: Sequence[int]) -> Job:
        prompt, edge, n_most = self._prompt(canvas)
        text = BlockText(
            prompt, self._pool.borrow(prompt), self._decoding.block, self._family.shift
        )
        drafts: list[Draft] = []
        joined: list[float] = []
        stopped = False
        try:
            yield from self._write(canvas, text, edge, n_most, drafts, how, first)
            token_ids, _ = _written(drafts, n_most)
            used = token_ids[: n_used(token_ids, self._tokens, canvas)]
            after = self._tokens.encode(canvas.context.suffix)[: self._decoding.join]
            # A suffix that the model has seen anyway would follow whatever it wrote.
            if after and edge == []:
                joined = yield from self._join(text, prompt + used, after)
        except Stopped:
            stopped = True
        token_ids, scores = _written(drafts, n_most)
        self._pool.give_back(text.cache)
        return finish(
            token_ids, scores, self._tokens, canvas, text.counts, stopped, joined
        )

    def _prompt(self, canvas: Canvas) -> tuple[list[int], list[int] | None, int]:
        """Return the prompt, the right edge (None where the suffix is in front), room.

        The edge is empty while the length is open.
        """
        context, tokens = canvas.context, self._tokens
        room = canvas.room
        ordered = self._family.fim and tokens.fim_prompt(self._family.fim, context)
        given = tokens.encode(canvas.given)
        edge: list[int] | None = None
        if ordered:
            prompt = [*ordered, *given]
        else:
            prompt = tokens.encode(context.extra + context.prefix + canvas.given)
            edge = []
        if self._decoding.length in ("fixed", "nearby"):
            count = min(self._decoding.canvas, room)
            if self._decoding.length == "nearby":
                count = nearby(canvas, lambda text: len(tokens.encode(text)))
            room = count
            edge = None if edge is None else tokens.encode(context.suffix)
        if len(prompt) + room > tokens.window:
            raise CanvasError(
                f"prompt and canvas have {len(prompt) + room} tokens, "
                f"{self._family.name} sees {tokens.window}; lower the budgets"
            )
        return prompt, edge, room

    def _write(
        self,
        canvas: Canvas,
        text: BlockText,
        edge: Sequence[int] | None,
        n_most: int,
        drafts: list[Draft],
        how: Sampling,
        first: Sequence[int],
    ) -> Generator[Ask, Tensor, None]:
        """Decide block after block until an end, the span's end, or no room."""
        n_left = n_most
        while n_left > 0:
            n_masks = min(text.n_free, n_left) if edge else text.n_free
            right = list(edge or [])[: text.n_free - n_masks]
            draft = Draft(n_masks, self._mask_id)
            drafts.append(draft)
            if self._family.shift and not text.head and text.pending:
                yield from self._first_token(text, draft, how, first)
            whole = yield from self._denoise(text, draft, drafts, right, how, first)
            first = ()
            if not whole:
                return
            text.close(draft.token_ids.tolist())
            n_left -= n_masks
            token_ids, _ = _written(drafts, n_most)
            if is_full(token_ids, self._tokens, canvas):
                return

    def _first_token(
        self, text: BlockText, draft: Draft, how: Sampling, first: Sequence[int]
    ) -> Generator[Ask, Tensor, None]:
        """Draw a block's first token from the last row of the clean block before it."""
        logits = yield text.ask_clean()
        text.answered()
        logits = allow_first(self._allowed(logits[-1:]), first)
        drawn = draw(logits, how, self._family)
        draft.commit(torch.arange(len(draft)) == 0, drawn)

    def _denoise(
        self,
        text: BlockText,
        draft: Draft,
        drafts: Sequence[Draft],
        right: Sequence[int],
        how: Sampling,
        first: Sequence[int],
    ) -> Generator[Ask, Tensor, bool]:
        """Decide one block; return False where the fill cannot go on."""
        state = Passes(self._decoding, self._family, draft, len(text.head))
        while (open_places := state.open_places(draft)) is not None:
            logits = yield text.ask(draft.token_ids.tolist(), right)
            text.answered()
            if self._family.shift:
                logits = torch.cat([logits[:1], logits[:-1]])
            start = len(text.head)
            logits = self._allowed(logits[start : start + len(draft)])
            logits = allow_first(logits, first)
            drawn = draw(logits, how, self._family)
            if broken(drawn):
                return False
            match self._decoding.commit:
                case "indel":
                    state.indel(logits.cpu(), draft, self._indel_ids())
                case "edit":
                    state.edit(draft, drawn)
                case _:
                    n_places = state.next_count()
                    taken = take(logits, drawn, open_places, self._decoding, n_places)
                    draft.commit(taken, drawn)
            if self._watch:
                self._watch(_seen(drafts, text.forwards))
        return True

    def _indel_ids(self) -> InDelIds:
        delete, split = self._tokens.delete_id, self._tokens.split_id
        if delete is None or split is None:
            raise ModelError(
                f"{self._family.name}: config.json names no delete_token_id and "
                "split_token_id, and they are not known from elsewhere"
            )
        return InDelIds(self._mask_id, delete, split)

    def _join(
        self, text: BlockText, token_ids: list[int], after: list[int]
    ) -> Generator[Ask, Tensor, list[float]]:
        """Return how likely the suffix's first tokens are after the fill."""
        text.restart(token_ids)
        ask = text.ask([self._mask_id] * len(after), ())
        first = ask.first + len(text.head) - int(self._family.shift)
        logits = (yield ask._replace(first=first))[: len(after)]
        text.answered()
        wanted = torch.tensor(after, device=logits.device)[:, None]
        scores: list[float] = logits.log_softmax(-1).gather(-1, wanted)[:, 0].tolist()
        return scores

    def _allowed(self, logits: Tensor) -> Tensor:
        """Rule out masks and control tokens that are no end."""
        return logits.index_fill(1, self._ruled_out, float("-inf"))


def _written(drafts: Sequence[Draft], n_most: int) -> tuple[list[int], list[float]]:
    """Return decided tokens from the left and their log-probabilities."""
    token_ids = [i for d in drafts for i in d.token_ids[: d.n_decided].tolist()]
    scores = [p for d in drafts for p in d.log_probabilities[: d.n_decided].tolist()]
    return token_ids[:n_most], scores[:n_most]


def _seen(drafts: Sequence[Draft], forwards: int) -> Seen:
    parts = [draft.seen(forwards) for draft in drafts]
    return Seen(
        [i for part in parts for i in part.token_ids],
        [m for part in parts for m in part.masked],
        [p for part in parts for p in part.log_probabilities],
        forwards,
    )
