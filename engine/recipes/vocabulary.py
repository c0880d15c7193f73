"""The part of the vocabulary drafts are drawn from: frequent tokens and a text's own.

Only drafts use it, so what it leaves out costs a rejected draft and never a wrong text
(FR-Spec, arXiv 2502.14856). Most tokens that are not frequent stand in the prompt.
"""

import torch
from torch.nn.functional import linear

IGNORED = -100


class Vocabulary:
    """The rows of a head for the frequent tokens, and for one text's rarer ones."""

    def __init__(self, head: torch.Tensor, frequent: torch.Tensor) -> None:
        """Take the frequent rows of the head."""
        self.frequent = frequent
        self._whole, self._rows = head, head[frequent]
        self._rank_of = torch.full((len(head),), IGNORED, device=head.device)
        self._rank_of[frequent] = torch.arange(len(frequent), device=head.device)
        self._own = frequent[:0]
        self._own_rows = head[self._own]

    def add_text(self, token_ids: list[int]) -> None:
        """Make one text's tokens part of the vocabulary, in place of the last's."""
        self._rank_of[self._own] = IGNORED
        unique = torch.tensor(sorted(set(token_ids)), device=self._whole.device)
        self._own = unique[self._rank_of[unique] == IGNORED]
        self._own_rows = self._whole[self._own]
        n_frequent = len(self.frequent)
        ranks = torch.arange(len(self._own), device=self._own.device) + n_frequent
        self._rank_of[self._own] = ranks

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the logits of all tokens of the vocabulary, in order of rank."""
        parts = [linear(hidden, self._rows), linear(hidden, self._own_rows)]
        return torch.cat(parts, dim=-1)

    def best(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the likeliest token's id."""
        ids = torch.cat([self.frequent, self._own])
        return ids[self.logits(hidden).argmax(-1)]

    def ranks(self, token_ids: torch.Tensor) -> torch.Tensor:
        """Return each token's rank, IGNORED for one that is ignored or left out."""
        ranks = self._rank_of[token_ids.clamp(min=0)]
        return ranks.where(token_ids != IGNORED, IGNORED)
