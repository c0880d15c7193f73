"""What stands before the block being decided, and what its passes have come to."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from .cache import Cache
from .commit import SCHEDULES, Drawn
from .decoder import Rows, block_causal
from .decoding import Decoding
from .draft import Draft
from .edit import InDelIds, InDelRule, InDelState, edit_tokens, indel_step
from .family import Family
from .run import Ask


class BlockText:
    """What stands before the block being decided: kept, to be kept, and its head."""

    def __init__(
        self, prompt: list[int], cache: Cache, block: int, shift: bool
    ) -> None:
        """Stand at the end of a prompt of which ``cache`` holds a beginning."""
        self.cache = cache
        self._block = block
        self._shift = shift
        self.forwards = self._n_fed = 0
        self.pending: list[int] = []
        self.head: list[int] = []
        self.restart(prompt)
        self._n_cached = len(cache.token_ids)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Passes, tokens computed, tokens found in the cache."""
        return self.forwards, self._n_fed, self._n_cached

    @property
    def n_free(self) -> int:
        """How many places the block has beside its head."""
        return self._block - len(self.head)

    def restart(self, token_ids: list[int]) -> None:
        """Stand at the end of ``token_ids``, of which the cache holds a beginning."""
        n_whole = len(token_ids) // self._block * self._block
        # With a shift the last row before the block predicts its first place, so the
        # block of that row is computed again.
        n_last = (len(token_ids) - int(self._shift)) // self._block * self._block
        self.cache.truncate(min(len(self.cache.token_ids), max(0, n_last)))
        self.pending = token_ids[len(self.cache.token_ids) : n_whole]
        self.head = token_ids[n_whole:]

    def close(self, token_ids: list[int]) -> None:
        """Make a decided block text, to be kept by the next pass."""
        self.pending = [*self.pending, *self.head, *token_ids]
        self.head = []

    def ask(self, token_ids: Sequence[int], right: Sequence[int]) -> Ask:
        """Ask for a pass over the block, and over the clean blocks still to be kept."""
        n_pending = len(self.pending)
        return self._ask([*self.pending, *self.head, *token_ids, *right], n_pending)

    def ask_clean(self) -> Ask:
        """Ask for a pass over the clean blocks alone."""
        return self._ask(self.pending, len(self.pending) - 1)

    def answered(self) -> None:
        """Keep the rows of the clean blocks."""
        if self.pending:
            self.cache.keep(self.pending)
            self.pending = []

    def _ask(self, fed: list[int], first: int) -> Ask:
        start = len(self.cache.token_ids)
        self.forwards += 1
        self._n_fed += len(fed)
        positions = torch.arange(start, start + len(fed))
        visible = block_causal(len(fed), self._block) if self.pending else None
        return Ask(Rows(torch.tensor(fed), positions, self.cache, visible), first)


class Passes:
    """What the passes over one block have come to."""

    def __init__(
        self, decoding: Decoding, family: Family, draft: Draft, n_head: int
    ) -> None:
        """Start on a block whose first ``n_head`` places are given text."""
        self._decoding = decoding
        self._sub_block = family.sub_block
        self._schedule: Iterator[int] = iter(())
        if decoding.steps:
            n_masks = int(draft.masked.sum())
            schedule = SCHEDULES[family.schedule](n_masks, decoding.steps)
            self._schedule = filter(None, schedule)
        self._n_head = n_head
        self._changed = True  # whether another pass may still edit
        self._n_post = 0
        self._indel: InDelState | None = None

    def next_count(self) -> int:
        """Return how many places the schedule wants committed, 0 without one."""
        return next(self._schedule, 0)

    def open_places(self, draft: Draft) -> Tensor | None:
        """Return the masks that may be decided now, None once the block is done."""
        if draft.masked.any():
            if not self._sub_block:
                return draft.masked
            part = (torch.arange(len(draft)) + self._n_head) // self._sub_block
            return draft.masked & (part == part[draft.n_decided])
        edits = self._decoding.commit in ("edit", "indel")
        if not edits or not self._changed or self._n_post >= self._decoding.n_post:
            return None
        self._n_post += 1
        return draft.masked

    def edit(self, draft: Draft, drawn: Drawn) -> None:
        """Commit masks and replace tokens the model has changed its mind about."""
        had_masks = bool(draft.masked.any())
        edited = edit_tokens(
            drawn,
            draft.token_ids,
            draft.masked,
            torch.zeros_like(draft.masked),
            self._decoding.threshold,
            self._decoding.edit_threshold,
        )
        draft.commit(edited.taken | edited.edited, drawn)
        self._changed = had_masks or bool(edited.edited.any())

    def indel(self, logits: Tensor, draft: Draft, ids: InDelIds) -> None:
        """Take one step of insertion and deletion."""
        before = self._indel or InDelState(
            draft.token_ids, draft.masked, torch.zeros_like(draft.masked)
        )
        after = indel_step(logits, before, InDelRule(ids))
        scores = logits.log_softmax(-1).gather(-1, after.token_ids[:, None])[:, 0]
        draft.log_probabilities = torch.where(
            after.token_ids != before.token_ids, scores, draft.log_probabilities
        )
        draft.token_ids = after.token_ids
        draft.masked = after.token_ids == ids.mask
        self._indel, self._changed = after, not after.finished
