"""Choosing tokens: a draft is checked against the model's own distribution.

At temperature 0 a draft token is right if it is the most likely one. Above, each place
has its own noise and the token is the most likely one with it (the Gumbel-max trick,
arXiv 1611.00712): a draft token is right if it is that one, which happens with the
probability the model gives it. So the text is the same with drafts and without.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

SEEDS = 2**63  # what a generator takes
COLDEST = 1e-4  # below, logits divided by the temperature may be no numbers any more


class Choice(NamedTuple):
    """The tokens taken, the free one last, and their log-probabilities."""

    token_ids: list[int]
    log_probabilities: list[float]


class Sampler:
    """Draws tokens at one temperature from one stream of random numbers."""

    def __init__(self, temperature: float = 0.0, seed: int = 0) -> None:
        """Use the most likely token at temperature 0, or next to it."""
        self._temperature = temperature if temperature >= COLDEST else 0.0
        self._random = torch.Generator().manual_seed(seed % SEEDS)

    def check(
        self, logits: Tensor, draft: Sequence[int], allowed: Sequence[int] | None = None
    ) -> Choice:
        """Return the draft's accepted beginning and one more token.

        ``logits`` is ``(1 + len(draft), vocabulary)``. ``allowed`` restricts the token,
        and comes without a draft.
        """
        if allowed is not None:
            assert not draft, "a restricted token has no draft"
            picked = logits[:, allowed]
            choice = self._pick(picked, [])
            return Choice([allowed[i] for i in choice.token_ids], choice[1])
        return self._pick(logits, draft)

    def trust(
        self, logits: Tensor, draft: list[int], allowed: Sequence[int] | None = None
    ) -> Choice:
        """Return the whole draft unchecked, and one more token after it."""
        if not draft:
            return self.check(logits, draft, allowed)
        last = self._pick(logits[-1:], [])
        return _choice([*draft, *last.token_ids], logits)

    def _pick(self, logits: Tensor, draft: Sequence[int]) -> Choice:
        if self._temperature > 0:
            return self._draw(logits.float() / self._temperature, draft)
        best = logits.argmax(-1).tolist()
        n_agreed = 0
        while n_agreed < len(draft) and draft[n_agreed] == best[n_agreed]:
            n_agreed += 1
        return _choice(best[: n_agreed + 1], logits)

    def _draw(self, logits: Tensor, draft: Sequence[int]) -> Choice:
        taken: list[int] = []
        for row, guess in zip(logits, [*draft, None], strict=True):
            # Noise is used up by committed tokens alone, whatever was drafted.
            noise = torch.empty_like(row).exponential_(generator=self._random)
            taken.append(int((row - noise.log()).argmax()))
            if taken[-1] != guess:
                break
        return _choice(taken, logits)


def _choice(token_ids: list[int], logits: Tensor) -> Choice:
    rows = logits[: len(token_ids)]
    picked = rows.gather(1, torch.tensor(token_ids)[:, None])[:, 0]
    return Choice(token_ids, (picked - rows.logsumexp(-1)).tolist())
