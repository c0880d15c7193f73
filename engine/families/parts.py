"""What every way of filling is given, and which tokens a canvas may take."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from niello.infill.canvas import Canvas
from niello.infill.errors import ModelError

from .decoding import Decoding
from .family import Family
from .run import Model, Watch
from .tokens import FamilyTokens, Heal


class Parts(NamedTuple):
    """A model, its vocabulary and family, and the choices of one filler."""

    model: Model
    tokens: FamilyTokens
    family: Family
    decoding: Decoding  # nothing left open
    watch: Watch | None = None  # is shown the canvas after every pass

    @property
    def mask_id(self) -> int:
        """The token of a place that is not decided yet."""
        if self.tokens.mask_id is None:
            raise ModelError(f"{self.family.name}: the checkpoint names no mask token")
        return self.tokens.mask_id

    def surround(self, canvas: Canvas) -> tuple[list[int], list[int]]:
        """Return the tokens before and after a canvas, for models that see it whole."""
        tokens, context = self.tokens, canvas.context
        before = tokens.encode(context.extra + context.prefix + canvas.given)
        after = tokens.encode(context.suffix)
        if self.family.begins and tokens.begin_id is not None:
            before = [tokens.begin_id, *before]
        if self.family.ends and tokens.end_id is not None:
            after = [*after, tokens.end_id]
        return before, after


def join(
    model: Model,
    tokens: FamilyTokens,
    family: Family,
    decoding: Decoding,
    watch: Watch | None = None,
) -> Parts:
    """Return the parts, with the family's own choices where ``decoding`` has none."""
    return Parts(model, tokens, family, decoding.for_family(family), watch)


class Allowed:
    """Rules out the tokens that the places of one canvas may not take."""

    def __init__(
        self,
        parts: Parts,
        canvas: Canvas,
        heal: Heal,
        free: frozenset[int] = frozenset(),
    ) -> None:
        """Allow ordinary tokens, ends, and the control tokens in ``free``."""
        self._tokens, self._heal = parts.tokens, heal
        self._may_be_empty = canvas.may_be_empty
        ends, device = parts.tokens.end_ids, parts.model.device
        self._ends = torch.tensor(sorted(ends), dtype=torch.int64, device=device)
        self._control = torch.tensor(
            sorted(parts.tokens.special_ids - ends - free),
            dtype=torch.int64,
            device=device,
        )

    def anywhere(self, logits: Tensor) -> Tensor:
        """Rule out, in rows of logits, masks and control tokens that are no end."""
        return logits.index_fill(1, self._control, float("-inf"))

    def __call__(
        self,
        logits: Tensor,
        written: Sequence[int] = (),
        places: Sequence[int] | None = None,
    ) -> Tensor:
        """Rule out what the places may not take whose logits the rows are.

        ``written`` stands before them in the canvas and ``places`` holds what is in
        them, masks included; None where all of them are drawn anew. The first place of
        a canvas takes a token that begins with the typed one, if that is written
        again; and where the canvas must not stay empty, no place takes an end before
        a place to its left holds more than blanks.
        """
        logits = self.anywhere(logits)
        if self._heal.token_ids and not written:
            logits = allow_first(logits, self._heal.token_ids)
        if not self._may_be_empty:
            open_logits = logits.index_fill(1, self._ends, float("-inf"))
            if places is None:
                places = open_logits.argmax(-1).tolist()
            n_blank = self._n_blank([*written, *places]) - len(written)
            logits = torch.cat(
                [open_logits[: max(0, n_blank)], logits[max(0, n_blank) :]]
            )
        return logits

    def _n_blank(self, token_ids: Sequence[int]) -> int:
        """Return how many places from the left have nothing written before them."""

        def written(n_tokens: int) -> bool:
            text = self._tokens.decode(token_ids[:n_tokens])
            return bool(text[len(self._heal.tail) :].strip())

        return bisect_left(range(len(token_ids) + 1), True, key=written)


def allow_first(logits: Tensor, token_ids: Sequence[int]) -> Tensor:
    """Rule out at the first place all tokens but these."""
    allowed = torch.tensor(token_ids, device=logits.device)
    logits = logits.clone()
    kept = logits[0, allowed]
    logits[0] = float("-inf")
    logits[0, allowed] = kept
    return logits
