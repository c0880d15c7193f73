"""The end judge: at the end of a line, whether the text goes on.

A model that fills in ends too early: a text that breaks off where the suffix does not
follow is as fluent as a whole one. What it knows of the suffix shows in its outputs,
and a small map that was trained on nothing but line ends reads it better than the end
token's own probability does (``engine/recipes/train_ends.py``).
"""

from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as functional
from safetensors import safe_open
from torch import Tensor

from .tensorfile import check_safetensors

_MOST_ODDS = 12.0


class EndJudge:
    """A map from an output at a line's end to the log-odds of the text's end there."""

    def __init__(
        self,
        end_ids: Tensor,
        inner: Tensor,
        inner_bias: Tensor,
        outer: Tensor,
        outer_bias: Tensor,
    ) -> None:
        """Take the tokens that end a text, and the maps.

        ``inner`` is ``(n_inner, width + 1)``, ``outer`` is ``(n_inner,)``.
        """
        self._end_ids = end_ids.long()
        self._inner, self._inner_bias = inner, inner_bias
        self._outer, self._outer_bias = outer, outer_bias

    def weigh(self, normed: Tensor, logits: Tensor, rows: Sequence[int]) -> None:
        """Give the end in these rows of ``logits`` the judged odds, in place.

        They are the odds against the likeliest token that goes on, so that a text at
        temperature 0 ends where they are positive. ``normed`` are the states that the
        logits were mapped from, ``(n_rows, width)``.
        """
        for row in rows:  # one at a time, so that neighbours do not change its bits
            own = logits[row]
            odds = self._judge(normed[row], log_odds(own, self._end_ids))
            likeliest_end = own[self._end_ids].argmax()
            own[self._end_ids] = float("-inf")
            own[self._end_ids[likeliest_end]] = own.max() + odds

    def _judge(self, normed: Tensor, odds: Tensor) -> Tensor:
        inner = self._inner @ features(normed, odds) + self._inner_bias
        return self._outer @ functional.gelu(inner) + self._outer_bias + odds / 2


def log_odds(logits: Tensor, end_ids: Tensor) -> Tensor:
    """Return the log-odds ``(...)`` of the tokens that end a text, bounded."""
    going_on = logits.index_fill(-1, end_ids, float("-inf")).logsumexp(-1)
    odds = logits[..., end_ids].logsumexp(-1) - going_on
    return odds.clamp(-_MOST_ODDS, _MOST_ODDS)


def features(normed: Tensor, odds: Tensor) -> Tensor:
    """Return what is judged, ``(..., width + 1)``."""
    return torch.cat([normed, odds[..., None] / 4], -1)


def load_ends(path: Path) -> EndJudge:
    """Read a judge; `load.py` sees to it that it fits the model."""
    check_safetensors(path)
    names = ("end_ids", "inner", "inner_bias", "outer", "outer_bias")
    with safe_open(path, framework="pt") as file:
        return EndJudge(*(file.get_tensor(name) for name in names))
