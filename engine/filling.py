"""One candidate of one canvas while it is being written.

Holds its tokens, its cache and the plan of its next pass, checks what a pass drafted,
and knows when it is done. Knows nothing of how passes are computed.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from niello.infill.canvas import Canvas, Fill, Reason

from .cache import KVCache
from .draft import NOTHING, Draft, LookUp
from .pace import Pace, Plan
from .sample import Sampler
from .tokens import Tokens

_WORD = re.compile("(?:[A-Z]?[a-z0-9]+|[A-Z0-9]+)$")  # of a name, its last part
_LONGEST_WORD = 64
_MOST_HEALED = 4  # tokens that are written again, each perhaps in a pass of its own


class Limits(NamedTuple):
    """How much one pass feeds for one canvas."""

    n_draft: int  # most draft tokens; 0 writes one token a pass
    pace: Pace | None = None  # plans each pass; None feeds all that look-up finds
    sure: float = 0.0  # commit guesses of this probability unchecked; 0 checks all


class Encoded(NamedTuple):
    """All fixed text of a canvas as tokens, but those that are written again."""

    token_ids: list[int]
    heal: bytes  # the text of those


class Filling:
    """One candidate of one canvas while it is being written."""

    def __init__(
        self,
        canvas: Canvas,
        tokens: Tokens,
        fixed: Encoded,
        cache: KVCache,
        sampler: Sampler,
    ) -> None:
        """Begin with a cache that holds a beginning of the fixed text."""
        self.canvas = canvas
        self.cache = cache
        self.reason: Reason | None = None
        self.draft = NOTHING
        self.plan = Plan(0, {})  # what of the draft is fed
        self.n_fed = 0
        self.n_dropped = 0  # rows of drafts and masks that did not stay
        self.n_cached = len(cache.token_ids)
        self.forwards = 0
        self._tokens = tokens
        self._sampler = sampler
        self.fixed = fixed
        self._heal = fixed.heal
        self.token_ids = list(fixed.token_ids)
        self._n_fixed = len(self.token_ids)
        self._n_healed = len(self._heal)
        self._log_probability = 0.0
        self._look_up = LookUp()

    def plan_pass(self, limits: Limits, n_canvases: int) -> None:
        """Choose a draft, and what to feed of it.

        The pass is shared by ``n_canvases``.
        """
        n_most = min(limits.n_draft, self.canvas.room - self._n_written - 1)
        pace = limits.pace
        if self._heal:
            self.draft = NOTHING
        elif n_most > 0 and not limits.sure:
            self.draft = self._drafted(n_most, pace)
        self.draft = self.draft.first(n_most)
        n_draft = len(self.draft.token_ids)
        if pace is None or n_most <= 0:
            self.plan = Plan(n_draft, {})
        elif limits.sure:
            self.plan = Plan(n_draft, {n_draft: pace.n_most})
        else:
            self.plan = pace.plan(self.draft, n_canvases)

    def _drafted(self, n_most: int, pace: Pace | None) -> Draft:
        """Return the masks' draft and what followed it before, or a looked-up one."""
        guesses = self.draft.first(n_most)
        n_left = n_most - len(guesses.token_ids)
        look_up = self._look_up.draft
        longer = guesses.then(look_up(self.token_ids, n_left, guesses.token_ids))
        found = look_up(self.token_ids, n_most)
        return found if pace and pace.likely(found) > pace.likely(longer) else longer

    @property
    def checked(self) -> list[int]:
        """The draft tokens that the pass feeds."""
        return self.draft.token_ids[: self.plan.n_draft]

    def line_ends(self) -> list[int]:
        """Return after which checked tokens, from the known one on, a line has ended.

        Lines of fixed text are none of them.
        """
        if self._heal:
            return []
        token_ids = [self.token_ids[-1], *self.checked]
        first = 0 if self._n_written else 1
        return [
            row
            for row in range(first, len(token_ids))
            if self._tokens.decode([token_ids[row]]).endswith(b"\n")
        ]

    def commit(self, logits: Tensor, limits: Limits) -> int:
        """Take the draft's checked run and one more token; return the run's length.

        ``logits`` are the outputs at the last known token and at each checked token.
        """
        allowed = self._tokens.continuing(self._heal) if self._heal else None
        n_blank = self._n_blank()
        logits, likely = self._without_ends(logits, n_blank)
        if limits.sure:
            choice = self._sampler.trust(logits, self.checked, allowed)
        else:
            choice = self._sampler.check(logits, self.checked, allowed)
        n_agreed = len(choice.token_ids) - 1
        self.cache.keep([*self.pending, *choice.token_ids[:n_agreed]])
        for row, (token_id, log_probability) in enumerate(zip(*choice, strict=True)):
            if token_id in self._tokens.special_ids:
                self.reason = "end"
                break
            self.token_ids.append(token_id)
            self._log_probability += log_probability
            if row < n_blank:
                self._log_probability += likely[row]
            self._heal = self._heal[len(self._tokens.decode([token_id])) :]
            # Agreed tokens past the end would count in the confidence, and how many
            # there are is a matter of pace.
            if self._full() is not None:
                self.reason = "span"
                break
            if self._n_written >= self.canvas.room:
                self.reason = "room"
                break
        return n_agreed

    def result(self) -> Fill:
        """Return what has been written, cut where the span is full."""
        text = self._text()
        full = self._full()
        if full is not None:
            text = text[: max(0, full - len(self.canvas.given))]
        n_written = self._n_written
        return Fill(
            text=text,
            confidence=self._log_probability / max(1, n_written),
            forwards=self.forwards,
            reason=self.reason or "stopped",
            n_tokens=n_written,
            n_fed=self.n_fed,
            n_dropped=self.n_dropped,
            n_cached=self.n_cached,
        )

    @property
    def pending(self) -> list[int]:
        """The known tokens that are not in the cache; at least the last one."""
        return self.token_ids[len(self.cache.token_ids) :]

    @property
    def _n_written(self) -> int:
        return len(self.token_ids) - self._n_fixed

    def _text(self) -> str:
        """Return the new text; bytes of a character cut at the end are left out."""
        written = self._tokens.decode(self.token_ids[self._n_fixed :])
        return written[self._n_healed :].decode("utf-8", "ignore")

    def _n_blank(self) -> int:
        """Return after how many checked tokens and fewer nothing is written yet."""
        if self._heal or self.canvas.may_be_empty:
            return 0
        token_ids = self.token_ids[self._n_fixed :]
        for n_blank, token_id in enumerate([*self.checked, 0]):
            written = self._tokens.decode(token_ids)[self._n_healed :]
            if written.decode("utf-8", "ignore").strip():
                return n_blank
            token_ids.append(token_id)
        return 1 + len(self.checked)

    def _without_ends(
        self, logits: Tensor, n_blank: int
    ) -> tuple[Tensor, Sequence[float]]:
        """Forbid ends in the first rows, after which nothing would be written.

        Beside them comes how likely it was, in each, that there is no end: it counts in
        the confidence.
        """
        if not n_blank:
            return logits, ()
        opened = logits.clone()
        opened[:n_blank, list(self._tokens.special_ids)] = float("-inf")
        before, after = (each[:n_blank].logsumexp(-1) for each in (logits, opened))
        return opened, (after - before).tolist()

    def _full(self) -> int | None:
        if self._heal:
            return None
        return self.canvas.stop(self.canvas.given + self._text())


def encode(canvas: Canvas, tokens: Tokens) -> Encoded:
    """Return the prompt of a canvas and what is given behind its control token."""
    fixed, n_healed = fixed_tokens(canvas, tokens)
    n_kept = len(fixed) - n_healed
    prompt = tokens.prompt(canvas.context)
    return Encoded([*prompt, *fixed[:n_kept]], tokens.decode(fixed[n_kept:]))


def fixed_tokens(canvas: Canvas, tokens: Tokens) -> tuple[list[int], int]:
    """Return the tokens behind the middle's control token, and how many heal.

    Text that ends within a line may end within a token, as "return " does before a
    word: its last token is written again, and may become a longer one. Of a word that
    has begun all tokens are, as "retu" is two and "return" one.
    """
    lead, given = canvas.context.lead, canvas.given
    text = lead + given
    token_ids = tokens.encode(text)
    if not given and (not lead or lead.endswith("\n")):
        return token_ids, 0
    begun = _WORD.search(text[-_LONGEST_WORD:])
    n_bytes, n_healed = len(begun[0]) if begun else 0, 0
    for token_id in reversed(token_ids):
        if (n_healed and n_bytes <= 0) or n_healed == _MOST_HEALED:
            break
        n_bytes -= len(tokens.decode([token_id]))
        n_healed += 1
    return token_ids, n_healed
