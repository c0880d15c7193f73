"""Chooses where blocks of masks stand in a text, and what each mask should say."""

import random
from typing import NamedTuple

import torch
from torch.nn.functional import linear

from .network import Base
from .texts import Text
from .vocabulary import IGNORED

_WINDOW = 96  # places of a prompt that are looked at for anchors


class Block(NamedTuple):
    """An anchor's place, the tokens before its masks and at them."""

    anchor: int
    before: list[int]
    targets: list[int]  # IGNORED where the base's choice is not known


class Blocks(NamedTuple):
    """Many blocks of one text as tensors."""

    anchors: torch.Tensor  # (blocks,)
    before: torch.Tensor  # (blocks, masks)
    targets: torch.Tensor  # (blocks, masks)


def stack(blocks: list[Block], n_masks: int, device: torch.device) -> Blocks:
    """Put blocks into tensors."""
    return Blocks(
        torch.tensor([block.anchor for block in blocks], device=device),
        torch.tensor([block.before for block in blocks], device=device).view(
            -1, n_masks
        ),
        torch.tensor([block.targets for block in blocks], device=device).view(
            -1, n_masks
        ),
    )


def blocks_in_drawn(text: Text, n_masks: int) -> list[Block]:
    """Take every anchor from the prompt's end to where two drawn tokens are left."""
    edge = len(text.prompt) - 1
    blocks = []
    for start in range(len(text.drawn) - 1):
        before = text.drawn[start : start + n_masks]
        targets = text.drawn[start + 1 : start + 1 + n_masks]
        before += [before[-1]] * (n_masks - len(before))
        targets += [IGNORED] * (n_masks - len(targets))
        blocks.append(Block(edge + start, before, targets))
    return blocks


def blocks_in_prompt(
    text: Text, n_masks: int, base: Base, rng: random.Random
) -> list[Block]:
    """Take anchors of the prompt where the base would write what stands there.

    A mask's target is the base's choice, known as long as the choices before it agree
    with the text; a block counts when at least the first does.
    """
    last = len(text.prompt) - n_masks - 2
    if last <= 1:
        return []
    first = rng.randrange(max(1, last - _WINDOW))
    stop = min(last, first + _WINDOW)
    hidden = text.hidden[first : stop + n_masks + 1]
    chosen = linear(hidden, base.head).argmax(-1).tolist()
    blocks = []
    for anchor in range(first, stop):
        said = chosen[anchor - first : anchor - first + n_masks + 1]
        stands = text.prompt[anchor + 1 : anchor + n_masks + 2]
        agreed = 0
        while agreed < n_masks and said[agreed] == stands[agreed]:
            agreed += 1
        if agreed:
            targets = said[1 : agreed + 1]
            targets += [IGNORED] * (n_masks - len(targets))
            blocks.append(Block(anchor, stands[:n_masks], targets))
    return blocks
