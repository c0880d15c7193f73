"""Rules that change more than masks: editing, inserting and deleting tokens.

Pure functions on the tokens of one canvas or block, like those of commit.py.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from .commit import Drawn, take_above, take_surest


class Edited(NamedTuple):
    """A block after one pass of a rule."""

    token_ids: Tensor  # (places,)
    taken: Tensor  # (places,) bool: masks that became tokens
    edited: Tensor  # (places,) bool: tokens that became other tokens


def edit_tokens(
    drawn: Drawn,
    token_ids: Tensor,
    masked: Tensor,
    fixed: Tensor,
    threshold: float,
    edit_threshold: float,
    n_places: int = 1,
) -> Edited:
    """Commit masks above one threshold and replace tokens above another (LLaDA 2.1).

    ``fixed`` places are given text and never change.
    """
    taken = torch.zeros_like(masked)
    if masked.any():
        taken = take_above(drawn.confidence, masked, threshold, n_places)
    edited = (drawn.confidence > edit_threshold) & ~masked & ~fixed
    edited &= drawn.token_ids != token_ids
    written = torch.where(taken | edited, drawn.token_ids, token_ids)
    return Edited(written, taken, edited)


class Grown(NamedTuple):
    """Tokens after places were inserted and deleted; ``origins`` are old places."""

    token_ids: list[int]
    origins: list[int]


def grow_and_shrink(
    token_ids: Sequence[int],
    drawn: Sequence[bool],
    expand_id: int,
    delete_id: int,
    mask_id: int,
) -> Grown:
    """Turn each expand token into two masks and drop each drawn delete token (DreamOn).

    ``drawn`` tells the places that were masked before this pass: an end token of the
    given text is text.
    """
    grown = Grown([], [])
    for place, token_id in enumerate(token_ids):
        if token_id == expand_id:
            grown.token_ids.extend([mask_id, mask_id])
            grown.origins.extend([place, place])
        elif token_id != delete_id or not drawn[place]:
            grown.token_ids.append(token_id)
            grown.origins.append(place)
    return grown


class InDelIds(NamedTuple):
    """The control tokens of insertion and deletion."""

    mask: int
    delete: int
    split: int


class InDelState(NamedTuple):
    """A block between two passes of LLaDA 2.2's rule."""

    token_ids: Tensor  # (places,)
    original: Tensor  # (places,) bool: was a mask when the block began
    fixed: Tensor  # (places,) bool: given text at the block's start
    seen: frozenset[tuple[int, ...]] = frozenset()  # earlier states, to break circles
    tried: Tensor | None = None  # (places, vocabulary) bool: tokens written there
    n_passes: int = 0
    n_post: int = 0  # passes since the last original mask went
    finished: bool = False


class InDelRule(NamedTuple):
    """The numbers of LLaDA 2.2's rule."""

    ids: InDelIds
    threshold: float = 0.5
    edit_threshold: float = 0.0
    n_post_most: int = 16


def indel_step(logits: Tensor, state: InDelState, rule: InDelRule) -> InDelState:
    """Commit, edit, insert and delete in a block of constant size.

    A drawn delete token takes its place out and the block is filled up with masks at
    its end; a split token becomes a mask with the former token after it. Masks made so
    are committed beside the original ones. Behaviour follows the public algorithm
    JointThresholdInDel of github.com/sgl-project/sglang.
    """
    before = state.token_ids
    masked = before == rule.ids.mask
    drawn, probability = _likeliest(logits, state.original & masked, rule.ids.mask)
    waiting = masked & state.original
    n_passes, n_post = state.n_passes + 1, state.n_post + int(not waiting.any())
    taken = _take_masks(probability, masked, waiting, rule.threshold)
    forced = (
        n_post >= rule.n_post_most if rule.n_post_most else not (waiting & ~taken).any()
    ) or n_passes > len(before) + rule.n_post_most
    if forced:
        taken = masked & ~state.fixed
        drawn = _without_controls(drawn, logits, rule.ids)
    edited = (probability > rule.edit_threshold) & (drawn != before)
    written = taken | (edited & ~masked & ~state.fixed)
    if not written.any():
        return state._replace(finished=True)
    tried = torch.zeros_like(logits, dtype=torch.bool)
    if state.tried is not None:
        tried = state.tried.clone()
    key = tuple(before.tolist())
    if key in state.seen and not forced:
        drawn = _other_way(drawn, probability, logits, written, before, waiting, tried)
    places = written.nonzero()[:, 0]
    tried[places, drawn[places]] = True
    token_ids, original = _apply(
        torch.where(written, drawn, before), before, state.original, rule.ids
    )
    return InDelState(
        token_ids,
        original,
        state.fixed,
        state.seen | {key},
        tried,
        n_passes,
        n_post,
        forced,
    )


def _likeliest(logits: Tensor, waiting: Tensor, mask_id: int) -> tuple[Tensor, Tensor]:
    """Return tokens and probabilities; an original mask never becomes a mask again."""
    probabilities = logits.float().softmax(-1)
    allowed = probabilities.clone()
    allowed[waiting, mask_id] = -1
    token_ids = allowed.argmax(-1)
    return token_ids, probabilities.gather(-1, token_ids[:, None])[:, 0]


def _take_masks(
    probability: Tensor, masked: Tensor, waiting: Tensor, threshold: float
) -> Tensor:
    """Take at least one mask more than insertions have added."""
    if not waiting.any():
        return masked
    n_needed = 1 + int(masked.sum()) - int(waiting.sum())
    taken = (probability > threshold) & masked
    if int(taken.sum()) >= n_needed:
        return taken
    return take_surest(probability, masked, n_needed)


def _without_controls(drawn: Tensor, logits: Tensor, ids: InDelIds) -> Tensor:
    plain = logits.clone()
    plain[:, list(ids)] = float("-inf")
    control = torch.isin(drawn, torch.tensor(ids, device=drawn.device))
    return torch.where(control, plain.argmax(-1), drawn)


def _other_way(
    drawn: Tensor,
    probability: Tensor,
    logits: Tensor,
    written: Tensor,
    before: Tensor,
    waiting: Tensor,
    tried: Tensor,
) -> Tensor:
    """Give the least sure change a token not tried there, so that no circle closes."""
    changing = written & (drawn != before)
    if not changing.any():
        return drawn
    place = int(probability.masked_fill(~changing, float("inf")).argmin())
    untried = logits[place].masked_fill(tried[place], float("-inf"))
    if waiting[place]:
        untried[before[place]] = float("-inf")  # What stands there is the mask.
    drawn = drawn.clone()
    drawn[place] = untried.argmax()
    return drawn


def _apply(
    written: Tensor, before: Tensor, original: Tensor, ids: InDelIds
) -> tuple[Tensor, Tensor]:
    """Carry out deletes and splits; the block keeps its size."""
    token_ids: list[int] = []
    origins: list[bool] = []
    triples = zip(written.tolist(), before.tolist(), original.tolist(), strict=True)
    for token_id, former, was_mask in triples:
        if token_id == ids.split:
            token_ids.extend([ids.mask, former])
            origins.extend([False, was_mask])
        elif token_id != ids.delete:
            token_ids.append(token_id)
            origins.append(was_mask)
    n_places = len(written)
    n_missing = max(0, n_places - len(token_ids))
    token_ids = [*token_ids, *([ids.mask] * n_missing)][:n_places]
    origins = [*origins, *([False] * n_missing)][:n_places]
    return written.new_tensor(token_ids), original.new_tensor(origins)
