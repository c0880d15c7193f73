"""Mask mode: gated low-rank adapters, mask embeddings and a sampler on the frozen base.

A block of masks after an anchor sees the exact keys and values of everything up to the
anchor and, both ways, its own masks; adapters act at mask positions only (gated LoRA,
arXiv 2507.11851). The sampler refines each mask's hidden state by the token before it,
so that drafts of a block agree with one another. Every other position runs the base
untouched, so nothing here can change the base's own text.
"""

from functools import partial
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import linear, silu

from .adapters import (
    Adapters,
    cut_rank,
    fill_in,
    rank_of,
    read_weights,
    write_weights,
)
from .network import (
    GROUP,
    HEAD_DIM,
    N_KV_HEADS,
    RMS_EPS,
    WIDTH,
    Base,
    rms_norm,
    run_layer,
)

SAMPLER_WIDTH = 512
FIRST_OFFSET = (
    2  # The token at offset 1 is known when drafts are drawn: the free token.
)


class Sampler(nn.Module):
    """Refines a block's hidden states from left to right by the tokens before them."""

    def __init__(self) -> None:
        """Start as the identity."""
        super().__init__()
        self.down = nn.Parameter(torch.empty(SAMPLER_WIDTH, 3 * WIDTH))
        self.up = nn.Parameter(torch.zeros(WIDTH, SAMPLER_WIDTH))
        nn.init.normal_(self.down, std=(3 * WIDTH) ** -0.5)

    def forward(
        self, hidden: torch.Tensor, token: torch.Tensor, state: torch.Tensor
    ) -> torch.Tensor:
        """Return a mask's refined hidden state, which is the next mask's ``state``.

        All are (blocks, width): the mask's normalised hidden state, the embedding of
        the token before it, the refined state of the mask before it (zeros at first).
        """
        seen = torch.cat([hidden, _unit(token), _unit(state)], dim=-1)
        inner = silu(linear(seen, self.down.to(hidden.dtype)))
        return hidden + linear(inner, self.up.to(hidden.dtype))


class MaskMode(nn.Module):
    """The trained part, in float32; it computes in the base's own type."""

    def __init__(self, n_offsets: int, rank: int) -> None:
        """Start as the base itself, with mask embeddings near zero."""
        super().__init__()
        self.mask_embedding = nn.Parameter(torch.randn(n_offsets, WIDTH) * 0.01)
        self.adapters = Adapters(rank)
        self.sampler = Sampler()

    def forward(
        self,
        base: Base,
        context: tuple[torch.Tensor, torch.Tensor],
        anchors: torch.Tensor,
        n_masks: int,
    ) -> torch.Tensor:
        """Return normalised hidden states (blocks, n_masks, width) after the anchors.

        ``context`` holds keys and values (layers, heads, time, dim); an anchor is the
        position of the last token that its block may see.
        """
        n_blocks, keys = len(anchors), context[0]
        offsets = torch.arange(n_masks, device=anchors.device) + FIRST_OFFSET
        positions = (anchors[:, None] + offsets).flatten()
        columns = torch.arange(keys.shape[2], device=anchors.device)
        closed = columns > anchors[:, None]  # (blocks, time)
        x = self.mask_embedding[offsets - 1].to(base.embedding.dtype)
        x = x.expand(n_blocks, n_masks, WIDTH).reshape(-1, WIDTH)
        for index, layer in enumerate(base.layers):
            attend = partial(_attend, context[0][index], context[1][index], closed)
            x = run_layer(x, layer, index, positions, attend, self.adapters)
        return rms_norm(x, base.norm).view(n_blocks, n_masks, WIDTH)

    def refine(
        self, base: Base, hidden: torch.Tensor, before: torch.Tensor
    ) -> torch.Tensor:
        """Refine hidden states given the true token before each, (blocks, n_masks)."""
        state, refined = torch.zeros_like(hidden[:, 0]), []
        for offset in range(hidden.shape[1]):
            token = base.embedding[before[:, offset]]
            state = self.sampler(hidden[:, offset], token, state)
            refined.append(state)
        return torch.stack(refined, dim=1)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights under the names the engine reads."""
        return {
            "mask_embedding": self.mask_embedding,
            "sampler.down": self.sampler.down,
            "sampler.up": self.sampler.up,
        } | self.adapters.tensors()


def _attend(
    context_keys: torch.Tensor,
    context_values: torch.Tensor,
    closed: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
) -> torch.Tensor:
    """Attend to the context up to each anchor and to the own block; (rows, width).

    Heads that share keys stand beside the masks of a block, so that the scores of all
    blocks against the context are one matrix product a key head.
    """
    n_blocks, n_time = closed.shape
    n_masks = len(q) // n_blocks
    q = q.view(n_blocks, n_masks, N_KV_HEADS, GROUP, HEAD_DIM).permute(2, 0, 1, 3, 4)
    q = q.reshape(N_KV_HEADS, -1, HEAD_DIM) * HEAD_DIM**-0.5
    k = k.view(n_blocks, n_masks, N_KV_HEADS, HEAD_DIM).permute(2, 0, 1, 3)
    v = v.view(n_blocks, n_masks, N_KV_HEADS, HEAD_DIM).permute(2, 0, 1, 3)
    shape = (N_KV_HEADS, n_blocks, n_masks * GROUP, -1)
    seen = (q @ context_keys.transpose(1, 2)).view(*shape)
    seen = seen.masked_fill(closed[None, :, None, :], -torch.inf)
    own = q.view(*shape[:3], HEAD_DIM) @ k.transpose(2, 3)
    weights = torch.cat([seen, own], dim=-1).softmax(dim=-1)
    from_context, from_own = weights.tensor_split([n_time], dim=-1)
    mixed = from_context.reshape(N_KV_HEADS, -1, n_time) @ context_values
    mixed = mixed.view(*shape[:3], HEAD_DIM) + from_own @ v
    mixed = mixed.view(N_KV_HEADS, n_blocks, n_masks, GROUP, HEAD_DIM)
    return mixed.permute(1, 2, 0, 3, 4).reshape(n_blocks * n_masks, WIDTH)


def _unit(x: torch.Tensor) -> torch.Tensor:
    y = x.float()
    return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + RMS_EPS)).to(x.dtype)


def load(path: Path, n_offsets: int, rank: int = 0) -> MaskMode:
    """Read a weight file; offsets, rank and a sampler it lacks change nothing yet."""
    tensors = read_weights(path)
    model = MaskMode(n_offsets, max(rank, rank_of(tensors)))
    known = tensors["mask_embedding"][:n_offsets]
    more = known[-1:].expand(n_offsets - len(known), -1)
    fill_in(model.tensors(), tensors | {"mask_embedding": torch.cat([known, more])})
    return model


def save(
    path: Path,
    model: MaskMode,
    vocabulary: torch.Tensor,
    metadata: dict[str, str],
    most_rank: int,
) -> None:
    """Write a weight file; drafts are drawn from the tokens in ``vocabulary``.

    Adapters of a higher rank than ``most_rank`` are cut to it.
    """
    tensors = cut_rank(model.tensors(), most_rank)
    facts = {
        "k": str(len(model.mask_embedding)),
        "first_offset": str(FIRST_OFFSET),
        "rank": str(rank_of(tensors)),
    }
    tensors["draft_vocabulary"] = vocabulary.to(torch.int32)
    write_weights(path, tensors, facts | metadata)
