"""Feed-forward parts made of many small ones, of which a router picks a few a row."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from niello.engine.kernels import Linear

from .decoder import FeedForward

Route = Callable[[Tensor], tuple[Tensor, Tensor]]
"""From router logits ``(rows, experts)`` to weights and indices ``(rows, picked)``."""


def mix_experts(
    router: Linear,
    route: Route,
    experts: Sequence[FeedForward],
    shared: FeedForward | None = None,
) -> FeedForward:
    """Return the weighted sum of the picked experts, plus ``shared`` for every row."""

    def feed_forward(rows: Tensor) -> Tensor:
        weights, picked = route(router(rows).float())
        summed = sum_experts(rows, weights, picked, experts)
        return summed if shared is None else summed + shared(rows)

    return feed_forward


def sum_experts(
    rows: Tensor, weights: Tensor, picked: Tensor, experts: Sequence[FeedForward]
) -> Tensor:
    """Return the weighted sum of each row's picked experts."""
    summed = torch.zeros_like(rows)
    for number in torch.unique(picked).tolist():
        which, slot = (picked == number).nonzero(as_tuple=True)
        result = experts[number](rows[which]) * weights[which, slot, None]
        summed.index_add_(0, which, result)
    return summed


def softmax_route(
    n_picked: int, renormalise: bool, bias: Tensor | None = None
) -> Route:
    """Return routing by softmax; picked weights sum to 1 only if renormalised."""

    def route(logits: Tensor) -> tuple[Tensor, Tensor]:
        scores = logits.softmax(-1)
        if bias is not None:
            scores = scores + bias
        weights, picked = scores.topk(n_picked, -1)
        if renormalise:
            weights = weights / weights.sum(-1, keepdim=True)
        return weights, picked

    return route


def sigmoid_route(
    n_picked: int, n_groups: int, n_groups_picked: int, scale: float, bias: Tensor
) -> Route:
    """Return routing by sigmoid within the best groups of experts.

    A group's worth is that of its two best experts; ``bias`` decides which experts are
    picked and never what they weigh (DeepSeek-V3, arXiv 2412.19437, section 2.1.2).
    """

    def route(logits: Tensor) -> tuple[Tensor, Tensor]:
        scores = logits.sigmoid()
        biased = (scores + bias).view(len(scores), n_groups, -1)
        worth = biased.topk(2, -1).values.sum(-1)  # (rows, groups)
        best = torch.zeros_like(worth, dtype=torch.bool)
        best.scatter_(1, worth.topk(n_groups_picked, -1).indices, True)
        within = biased.masked_fill(~best[..., None], float("-inf")).flatten(1)
        picked = within.topk(n_picked, -1).indices
        weights = scores.gather(1, picked)
        if n_picked > 1:
            weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
        return weights * scale, picked

    return route
