"""Filling canvases: draft a few tokens, check them in the pass that drafts the next.

Every pass feeds the last known token and a draft of what may follow. Its causal outputs
check the draft: the longest agreeing run is committed, and the output after it is one
more token for free, so a pass always gains a token and the text is the model's own
(speculative decoding, arXiv 2211.17192). With a mask mode, blocks of masks stand after
the likely ends of the agreement and draft the next tokens in the same pass (cf.
TiDAR, arXiv 2511.08923). Rows of rejected and mask positions never stay in the cache.

Knows nothing of spans beyond the canvas's stop rule.
"""

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from niello.infill.canvas import StopFlag

from .cache import KVCache
from .draft import NOTHING
from .filling import Filling, Limits
from .mask_mode import FIRST
from .model import Rows, Stopped, Transformer

_SLICE = 128  # prompt rows a pass: bounds what a stop undoes
FEW = 16  # known tokens that are better computed in the pass that writes


def prefill(
    model: Transformer, fillings: Sequence[Filling], stop: StopFlag, n_left: int = 1
) -> None:
    """Compute fixed text, slice by slice, until ``n_left`` tokens or fewer are left.

    One is left at least: the pass that writes begins with it. A slice may hold parts of
    several texts.
    """
    for filling in fillings:
        filling.cache.reserve(len(filling.pending))
    while waiting := [f for f in fillings if len(f.pending) > n_left]:
        n_rows = 0
        parts: list[tuple[Filling, list[int]]] = []
        for filling in waiting:
            part = filling.pending[:-1][: _SLICE - n_rows]
            n_rows += len(part)
            if part:
                parts.append((filling, part))
        try:
            model.read([text_rows(part, f.cache) for f, part in parts], stop)
        except Stopped:
            return
        for filling, part in parts:
            filling.cache.keep(part)
            filling.n_fed += len(part)


def denoise(
    model: Transformer, fillings: Sequence[Filling], limits: Limits, stop: StopFlag
) -> None:
    """Write all fillings to their ends; one pass serves all that are not done."""
    active = [filling for filling in fillings if filling.reason is None]
    while active:
        for filling in active:
            filling.plan_pass(limits, len(active))
        batch = [_rows(f) for f in active]
        try:
            hidden = model.forward(batch, stop)
        except Stopped:
            return
        owned = torch.split(hidden, [len(rows.token_ids) for rows in batch])
        checks = _checks(model, active, owned)
        blocks = [
            _advance(filling, own, logits, limits)
            for filling, own, logits in zip(active, owned, checks, strict=True)
        ]
        _draft(model, active, blocks, limits)
        active = [filling for filling in active if filling.reason is None]


def _advance(
    filling: Filling, own: Tensor, logits: Tensor, limits: Limits
) -> Tensor | None:
    """Commit what a pass has checked; return the block of masks after it, if any.

    ``own`` are the pass's hidden states of this filling, as `_rows` puts them.
    """
    n_known, checked = len(filling.pending), filling.checked
    n_agreed = filling.commit(logits, limits)
    filling.forwards += 1
    filling.n_fed += len(own)
    filling.n_dropped += len(own) - (n_known + n_agreed)
    if limits.pace and not limits.sure:
        limits.pace.learn(filling.draft, len(checked), n_agreed)
    start = n_known + len(checked)
    for n_before, n_masks in filling.plan.blocks.items():
        if n_before == n_agreed and filling.reason is None:
            return own[start : start + n_masks]
        start += n_masks
    return None


def _draft(
    model: Transformer,
    fillings: Sequence[Filling],
    blocks: Sequence[Tensor | None],
    limits: Limits,
) -> None:
    """Have the tokens of all blocks guessed; a filling without one has no draft."""
    given = {n: block for n, block in enumerate(blocks) if block is not None}
    for filling in fillings:
        filling.draft = NOTHING
    if given:
        known = [fillings[n].token_ids[-1] for n in given]
        drafts = model.guess(list(given.values()), known, limits.sure)
        for n, draft in zip(given, drafts, strict=True):
            fillings[n].draft = draft


def _checks(
    model: Transformer, active: Sequence[Filling], owned: Sequence[Tensor]
) -> Sequence[Tensor]:
    """Return the outputs at each filling's last known token and at its draft."""
    firsts = [len(filling.pending) - 1 for filling in active]
    sizes = [1 + filling.plan.n_draft for filling in active]
    rows = [
        own[first : first + size]
        for own, first, size in zip(owned, firsts, sizes, strict=True)
    ]
    starts = [0, *accumulate(sizes)]
    line_ends = [
        start + row
        for filling, start in zip(active, starts, strict=False)
        for row in filling.line_ends()
    ]
    return torch.split(model.logits(torch.cat(rows), line_ends), sizes)


def text_rows(token_ids: Sequence[int], cache: KVCache) -> Rows:
    """Return causal rows of the tokens that come after those in the cache."""
    start = len(cache.token_ids)
    positions = torch.arange(start, start + len(token_ids))
    return Rows(torch.tensor(token_ids), positions, cache)


def _rows(filling: Filling) -> Rows:
    """Return what is known, its draft, and blocks of masks after the likely ends."""
    known = filling.pending
    text = [*known, *filling.checked]
    blocks = filling.plan.blocks
    if not blocks:
        return text_rows(text, filling.cache)
    start, n_text = len(filling.cache.token_ids), len(text)
    offsets = torch.cat([torch.arange(FIRST, FIRST + n) for n in blocks.values()])
    lengths = torch.tensor(list(blocks.values()))
    anchors = torch.tensor(list(blocks)) + len(known) - 1
    owner = anchors.repeat_interleave(lengths)  # (all masks,)
    places = torch.arange(start, start + n_text)
    n_rows = n_text + len(owner)
    visible = torch.zeros(n_rows, n_rows).bool()
    visible[:n_text, :n_text] = torch.ones(n_text, n_text).tril_().bool()
    visible[n_text:, :n_text] = owner[:, None] >= torch.arange(n_text)
    visible[n_text:, n_text:] = owner[:, None] == owner
    return Rows(
        torch.cat([torch.tensor(text), torch.zeros_like(owner)]),
        torch.cat([places, places[owner] + offsets]),
        filling.cache,
        visible,
        torch.cat([torch.zeros(n_text, dtype=torch.int64), offsets]),
    )
