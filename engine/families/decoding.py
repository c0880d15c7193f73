"""What a caller may choose about decoding; what is left open the family decides."""

from typing import NamedTuple

import torch
from torch import Tensor

from niello.engine.sample import COLDEST, SEEDS
from niello.infill.errors import SettingsError

from .commit import (
    Drawn,
    draw_gumbel,
    draw_likeliest,
    draw_sampled,
    margin,
    negative_entropy,
    take_random,
    take_surest,
    take_threshold,
)
from .family import Commit, Family
from .length import POLICIES

_COMMITS = ("threshold", "scheduled", "margin", "entropy", "random")
COMMITS = {
    "bidirectional": (*_COMMITS, "p2", "ancestral"),
    "block": (*_COMMITS, "edit", "indel"),
}
"""The commit rules of each way of seeing a canvas that has masks."""


class Decoding(NamedTuple):
    """Choices of one filler; 0 and empty mean the family's own."""

    length: str = ""  # one of length.POLICIES
    canvas: int = 32  # masks to start with, where the length policy needs a number
    block: int = 0  # places decided together; 0: the family's
    # Passes over a canvas, or over a block where blocks follow each other; 0: as many
    # as the commit rule needs.
    steps: int = 0
    commit: Commit | str = ""
    threshold: float = 0.0
    edit_threshold: float = 0.9
    n_post: int = 16  # most passes of editing after the last mask
    cache: bool = True
    refresh: int = (
        16  # commits after which a frozen prefix and suffix are computed anew
    )
    join: int = 4  # suffix tokens that score a fill which could not see the suffix

    def for_family(self, family: Family) -> "Decoding":
        """Return the choices with the family's own in the places left open."""
        chosen = self._replace(
            length=self.length or family.length,
            block=self.block or family.block,
            commit=self.commit or family.commit,
            threshold=self.threshold or family.threshold,
        )
        if chosen.length not in POLICIES:
            raise SettingsError(
                f"length is {chosen.length!r}; give one of {', '.join(POLICIES)}"
            )
        rules = COMMITS.get(family.way, (chosen.commit,))
        if chosen.commit not in rules:
            raise SettingsError(
                f"commit is {chosen.commit!r}; {family.name} has {', '.join(rules)}"
            )
        return chosen


class Sampling(NamedTuple):
    """Temperature and the stream of random numbers of one draw."""

    temperature: float
    generator: torch.Generator


def sampling(temperature: float, seed: int, device: torch.device) -> Sampling:
    """Return a draw's own stream of random numbers."""
    temperature = temperature if temperature >= COLDEST else 0.0
    return Sampling(temperature, torch.Generator(device).manual_seed(seed % SEEDS))


def draw(logits: Tensor, how: Sampling, family: Family) -> Drawn:
    """Draw a token for every place; the answer lies on the CPU, as drafts do."""
    if how.temperature == 0:
        drawn = draw_likeliest(logits)
    elif family.sampled:
        drawn = draw_sampled(logits, how.temperature, how.generator)
    else:
        drawn = draw_gumbel(logits, how.temperature, how.generator)
    return Drawn(drawn.token_ids.cpu(), drawn.confidence.cpu())


def take(
    logits: Tensor,
    drawn: Drawn,
    open_places: Tensor,
    decoding: Decoding,
    n_places: int,
    how: Sampling,
) -> Tensor:
    """Take places by the chosen rule; ``n_places`` counts where a schedule does."""
    match decoding.commit:
        case "margin":
            return take_surest(margin(logits).cpu(), open_places, max(1, n_places))
        case "entropy":
            sure = negative_entropy(logits).cpu()
            return take_surest(sure, open_places, max(1, n_places))
        case "scheduled":
            return take_surest(drawn.confidence, open_places, max(1, n_places))
        case "random":
            return take_random(open_places, how.generator)
    if n_places:
        return take_surest(drawn.confidence, open_places, n_places)
    return take_threshold(drawn.confidence, open_places, decoding.threshold)
