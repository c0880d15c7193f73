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
from .decoding import Sampling, draw, take
from .draft import Draft, broken, fill_all, finish, is_full, n_used
from .edit import InDelIds
from .length import nearby
from .parts import Allowed, Parts
from .run import Ask, Job, Seen, Stopped
from .tokens import Heal


class Blocks:
    """A `Filler` for models whose blocks see what is before them and themselves."""

    def __init__(self, parts: Parts) -> None:
        """Fill with the model of ``parts``."""
        self._parts = parts
        self._mask_id = parts.mask_id
        tokens, decoding = parts.tokens, parts.decoding
        edits = (
            (tokens.delete_id, tokens.split_id) if decoding.commit == "indel" else ()
        )
        self._free = frozenset(i for i in edits if i is not None)
        self._pool = CachePool(parts.model.new_cache, decoding.block, on=decoding.cache)

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times."""
        return fill_all(self._parts, self._job, canvases, draws, stop)

    def _job(self, canvas: Canvas, how: Sampling, heal: Heal) -> Job:
        tokens, decoding = self._parts.tokens, self._parts.decoding
        prompt, edge, n_most = self._prompt(canvas)
        text = BlockText(
            prompt,
            self._pool.borrow(prompt),
            decoding.block,
            self._parts.family.shift,
        )
        allowed = Allowed(self._parts, canvas, heal, self._free)
        drafts: list[Draft] = []
        joined: list[float] = []
        stopped = False
        try:
            yield from self._write(canvas, text, edge, n_most, drafts, how, allowed)
            token_ids, _ = _written(drafts, n_most)
            used = token_ids[: n_used(token_ids, tokens, canvas)]
            after = tokens.encode(canvas.context.suffix)[: decoding.join]
            # A suffix that the model has seen anyway would follow whatever it wrote.
            if after and edge == []:
                joined = yield from self._join(text, prompt + used, after)
        except Stopped:
            stopped = True
        token_ids, scores = _written(drafts, n_most)
        self._pool.give_back(text.cache)
        return finish(token_ids, scores, tokens, canvas, text.counts, stopped, joined)

    def _prompt(self, canvas: Canvas) -> tuple[list[int], list[int] | None, int]:
        """Return the prompt, the right edge (None where the suffix is in front), room.

        The edge is empty while the length is open.
        """
        context, tokens = canvas.context, self._parts.tokens
        room, decoding = canvas.room, self._parts.decoding
        family = self._parts.family
        ordered = family.fim and tokens.fim_prompt(family.fim, context)
        given = tokens.encode(canvas.given)
        edge: list[int] | None = None
        if ordered:
            prompt = [*ordered, *given]
        else:
            prompt = tokens.encode(context.extra + context.prefix + canvas.given)
            edge = []
        if decoding.length in ("fixed", "nearby"):
            count = min(decoding.canvas, room)
            if decoding.length == "nearby":
                count = nearby(canvas, lambda text: len(tokens.encode(text)))
            room = count
            edge = None if edge is None else tokens.encode(context.suffix)
        if len(prompt) + room > tokens.window:
            raise CanvasError(
                f"prompt and canvas have {len(prompt) + room} tokens, "
                f"{family.name} sees {tokens.window}; lower the budgets"
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
        allowed: Allowed,
    ) -> Generator[Ask, Tensor, None]:
        """Decide block after block until an end, the span's end, or no room."""
        n_left = n_most
        while n_left > 0:
            n_masks = min(text.n_free, n_left) if edge else text.n_free
            right = list(edge or [])[: text.n_free - n_masks]
            draft = Draft(n_masks, self._mask_id)
            drafts.append(draft)
            if self._parts.family.shift and not text.head and text.pending:
                yield from self._first_token(text, drafts, how, allowed)
            whole = yield from self._denoise(text, drafts, right, how, allowed)
            if not whole:
                return
            text.close(draft.token_ids.tolist())
            n_left -= n_masks
            token_ids, _ = _written(drafts, n_most)
            if is_full(token_ids, self._parts.tokens, canvas):
                return

    def _first_token(
        self, text: BlockText, drafts: Sequence[Draft], how: Sampling, allowed: Allowed
    ) -> Generator[Ask, Tensor, None]:
        """Draw a block's first token from the last row of the clean block before it."""
        logits = yield text.ask_clean()
        text.answered()
        draft = drafts[-1]
        logits = allowed(logits[-1:], _token_ids(drafts[:-1]), [self._mask_id])
        drawn = draw(logits, how, self._parts.family)
        draft.commit(torch.arange(len(draft)) == 0, drawn)

    def _denoise(
        self,
        text: BlockText,
        drafts: Sequence[Draft],
        right: Sequence[int],
        how: Sampling,
        allowed: Allowed,
    ) -> Generator[Ask, Tensor, bool]:
        """Decide the last block; return False where the fill cannot go on."""
        parts, draft, written = self._parts, drafts[-1], _token_ids(drafts[:-1])
        state = Passes(parts.decoding, parts.family, draft, len(text.head))
        while (open_places := state.open_places(draft)) is not None:
            logits = yield text.ask(draft.token_ids.tolist(), right)
            text.answered()
            if parts.family.shift:
                logits = torch.cat([logits[:1], logits[:-1]])
            logits = logits[len(text.head) :][: len(draft)]
            logits = allowed(logits, written, draft.token_ids.tolist())
            drawn = draw(logits, how, parts.family)
            if broken(drawn):
                return False
            match parts.decoding.commit:
                case "indel":
                    state.indel(logits.cpu(), draft, self._indel_ids())
                case "edit":
                    state.edit(draft, drawn)
                case _:
                    n_places = state.next_count()
                    taken = take(
                        logits, drawn, open_places, parts.decoding, n_places, how
                    )
                    draft.commit(taken, drawn)
            if parts.watch:
                parts.watch(_seen(drafts, text.forwards))
        return True

    def _indel_ids(self) -> InDelIds:
        tokens = self._parts.tokens
        delete, split = tokens.delete_id, tokens.split_id
        if delete is None or split is None:
            raise ModelError(
                f"{self._parts.family.name}: config.json names no delete_token_id and "
                "split_token_id, and they are not known from elsewhere"
            )
        return InDelIds(self._mask_id, delete, split)

    def _join(
        self, text: BlockText, token_ids: list[int], after: list[int]
    ) -> Generator[Ask, Tensor, list[float]]:
        """Return how likely the suffix's first tokens are after the fill."""
        text.restart(token_ids)
        ask = text.ask([self._mask_id] * len(after), ())
        first = ask.first + len(text.head) - int(self._parts.family.shift)
        logits = (yield ask._replace(first=first))[: len(after)]
        text.answered()
        wanted = torch.tensor(after, device=logits.device)[:, None]
        scores: list[float] = logits.log_softmax(-1).gather(-1, wanted)[:, 0].tolist()
        return scores


def _written(drafts: Sequence[Draft], n_most: int) -> tuple[list[int], list[float]]:
    """Return decided tokens from the left and their log-probabilities."""
    token_ids = [i for d in drafts for i in d.token_ids[: d.n_decided].tolist()]
    scores = [p for d in drafts for p in d.log_probabilities[: d.n_decided].tolist()]
    return token_ids[:n_most], scores[:n_most]


def _token_ids(drafts: Sequence[Draft]) -> list[int]:
    return [i for draft in drafts for i in draft.token_ids.tolist()]


def _seen(drafts: Sequence[Draft], forwards: int) -> Seen:
    parts = [draft.seen(forwards) for draft in drafts]
    return Seen(
        [i for part in parts for i in part.token_ids],
        [m for part in parts for m in part.masked],
        [p for part in parts for p in part.log_probabilities],
        forwards,
    )
