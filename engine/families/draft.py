"""A canvas on its way from masks to a fill."""

import logging
from bisect import bisect_left
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from niello.infill.canvas import Canvas, Draws, Fill, Reason, StopFlag

from .commit import Drawn
from .decoding import Sampling, sampling
from .parts import Parts
from .run import Job, Seen, run
from .tokens import FamilyTokens, Heal

logger = logging.getLogger(__name__)

_LOOP = 4  # tokens of a run whose return makes a loop
_VARIED = 0.7  # temperature of further candidates when the first is greedy
_REPEATED = 0.5  # share of repeated runs from which a fill is taken for a loop


class Draft:
    """Tokens of one canvas, which of them are masks, and how sure the others are."""

    def __init__(self, n_places: int, mask_id: int) -> None:
        """Start with masks only."""
        self.mask_id = mask_id
        self.token_ids = torch.full((n_places,), mask_id)
        self.masked = torch.ones(n_places, dtype=torch.bool)
        self.log_probabilities = torch.zeros(n_places)

    def __len__(self) -> int:
        """Return the number of places."""
        return len(self.token_ids)

    @property
    def n_decided(self) -> int:
        """How many places from the left hold tokens."""
        masks = self.masked.nonzero()
        return int(masks[0]) if len(masks) else len(self)

    def commit(self, taken: Tensor, drawn: Drawn) -> None:
        """Write the drawn tokens at the taken places."""
        self.token_ids = torch.where(taken, drawn.token_ids, self.token_ids)
        self.log_probabilities = torch.where(
            taken, drawn.confidence.float().log(), self.log_probabilities
        )
        self.masked = self.masked & ~taken

    def remask(self, places: Tensor) -> None:
        """Take the tokens of some places back."""
        self.token_ids = self.token_ids.masked_fill(places, self.mask_id)
        self.log_probabilities = self.log_probabilities.masked_fill(places, 0.0)
        self.masked = self.masked | places

    def rearrange(self, token_ids: Sequence[int], origins: Sequence[int]) -> None:
        """Take over tokens after places were inserted or deleted."""
        self.token_ids = torch.tensor(token_ids, dtype=torch.int64)
        self.masked = self.token_ids == self.mask_id
        self.log_probabilities = self.log_probabilities[list(origins)]

    def seen(self, forwards: int) -> Seen:
        """Return the state for those who watch."""
        return Seen(
            self.token_ids.tolist(),
            self.masked.tolist(),
            self.log_probabilities.tolist(),
            forwards,
        )


def finish(
    token_ids: Sequence[int],
    log_probabilities: Sequence[float],
    tokens: FamilyTokens,
    canvas: Canvas,
    counts: tuple[int, int, int],
    stopped: bool = False,
    joined: Sequence[float] = (),
) -> Fill:
    """Return the fill of decided tokens: up to an end, a loop, or the span's end."""
    n_end = end_of(token_ids, tokens)
    reason: Reason = "end" if n_end < len(token_ids) else "room"
    text = tokens.decode(token_ids[: before_loop(token_ids[:n_end])])
    cut = canvas.stop(canvas.given + text)
    if cut is not None:
        text, reason = text[: max(0, cut - len(canvas.given))], "span"
    n_kept = n_used(token_ids, tokens, canvas)
    scores = [*log_probabilities[:n_kept], *joined]
    confidence = sum(scores) / len(scores) if scores else 0.0
    forwards, n_fed, n_cached = counts
    return Fill(
        text,
        confidence,
        forwards,
        "stopped" if stopped else reason,
        n_kept,
        n_fed,
        n_cached,
    )


def is_full(token_ids: Sequence[int], tokens: FamilyTokens, canvas: Canvas) -> bool:
    """Tell whether decided tokens reach an end token or the end of the span."""
    if end_of(token_ids, tokens) < len(token_ids):
        return True
    return canvas.stop(canvas.given + tokens.decode(token_ids)) is not None


def n_used(token_ids: Sequence[int], tokens: FamilyTokens, canvas: Canvas) -> int:
    """Return how many decided tokens the fill is made of."""
    n_kept = before_loop(token_ids[: end_of(token_ids, tokens)])
    cut = canvas.stop(canvas.given + tokens.decode(token_ids[:n_kept]))
    if cut is None:
        return n_kept
    length = cut - len(canvas.given)
    return bisect_left(
        range(n_kept), length, key=lambda n: len(tokens.decode(token_ids[:n]))
    )


def end_of(token_ids: Sequence[int], tokens: FamilyTokens) -> int:
    """Return the place of the first control token, or the length."""
    control = (n for n, i in enumerate(token_ids) if i in tokens.special_ids)
    return next(control, len(token_ids))


def before_loop(token_ids: Sequence[int]) -> int:
    """Return where a fill begins to go round in circles, or its length.

    Too few passes over too long a canvas make a model repeat itself; nothing after the
    first repeated run is of use then.
    """
    runs = [tuple(token_ids[n : n + _LOOP]) for n in range(len(token_ids) - _LOOP + 1)]
    if len(runs) - len(set(runs)) < _REPEATED * max(1, len(runs)):
        return len(token_ids)
    seen: set[tuple[int, ...]] = set()
    for place, one in enumerate(runs):
        if one in seen:
            return place
        seen.add(one)
    return len(token_ids)


def broken(drawn: Drawn) -> bool:
    """Tell whether a model gave logits that are no numbers, and say so in the log."""
    if not bool(torch.isnan(drawn.confidence).any()):
        return False
    logger.warning("the model gave logits that are no numbers; the fill ends here")
    return True


Begin = Callable[[Canvas, Sampling, Heal], Job]
"""Starts a job; the user's last token may have to be written again."""


def _healed(begin: Begin, canvas: Canvas, how: Sampling, tokens: FamilyTokens) -> Job:
    """Have the user's last token written again, and leave it out of the fill."""
    heal = tokens.heal(canvas.given)
    given = canvas.given[: len(canvas.given) - len(heal.tail)]
    fill = yield from begin(canvas._replace(given=given), how, heal)
    return fill._replace(text=fill.text[len(heal.tail) :])


def fill_all(
    parts: Parts,
    begin: Begin,
    canvases: Sequence[Canvas],
    draws: Draws,
    stop: StopFlag,
) -> list[list[Fill]]:
    """Fill each canvas as often as asked, all of them in the same passes."""
    model = parts.model
    varied = draws.temperature or _VARIED
    temperatures = [draws.temperature, *[varied] * (draws.n - 1)][: draws.n]
    jobs = [
        _healed(
            begin,
            canvas,
            sampling(temperature, draws.seed + number, model.device),
            parts.tokens,
        )
        for canvas in canvases
        for number, temperature in enumerate(temperatures)
    ]
    fills = iter(run(model, jobs, stop))
    return [[next(fills) for _ in temperatures] for _ in canvases]
