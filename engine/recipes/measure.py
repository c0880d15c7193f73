"""Measures mask mode: right guesses by offset, accepted drafts and tokens a pass.

The text is the base's own greedy text, so checked drafting has one outcome that follows
from the drafts at each position; it is played here without running the passes. The pass
that reads the context gives the first token and is counted apart.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from .mask_mode import MaskMode
from .network import Base
from .texts import Text
from .vocabulary import Vocabulary

_LONGEST_LOOKUP, _SHORTEST_MATCH = 8, 2


class Outcome(NamedTuple):
    """What checked drafting did with one text."""

    n_tokens: int  # after the first, which comes with the context
    one: int  # passes with one mask a block
    masks: int  # passes with whole blocks of masks
    plain: int  # passes with masks but without the sampler
    lookup: int  # passes with n-gram look-up alone
    both: int  # passes with the longer agreement of the two


@torch.no_grad()
def measure(
    model: MaskMode, base: Base, texts: Sequence[Text], vocabulary: Vocabulary, k: int
) -> dict[str, dict[str, float]]:
    """Return the figures of each group and of all texts together."""
    outcomes: dict[str, list[Outcome]] = {}
    right: dict[str, list[list[bool]]] = {}
    for text in texts:
        if len(text.drawn) < 2:
            continue
        refined, plain = _draft(model, base, text, vocabulary, k)
        agreed, agreed_plain = _runs(refined, text.drawn), _runs(plain, text.drawn)
        looked_up = _look_up_runs(text)
        longer = [max(a, b) for a, b in zip(agreed, looked_up, strict=True)]
        outcome = Outcome(
            len(text.drawn) - 1,
            passes([min(run, 1) for run in agreed]),
            *(passes(runs) for runs in (agreed, agreed_plain, looked_up, longer)),
        )
        for group in (text.group, "all"):
            outcomes.setdefault(group, []).append(outcome)
            right.setdefault(group, []).extend(_right(refined, plain, text.drawn))
    return {group: _figures(outcomes[group], right[group], k) for group in outcomes}


def _draft(
    model: MaskMode,
    base: Base,
    text: Text,
    vocabulary: Vocabulary,
    k: int,
) -> tuple[list[list[int]], list[list[int]]]:
    """Draft after every anchor, with the sampler and without."""
    n = len(text.drawn) - 1
    edge = len(text.prompt) - 1
    device = base.head.device
    anchors = torch.arange(edge, edge + n, device=device)
    vocabulary.add_text(text.prompt)
    hidden = model(base, text.context, anchors, k)
    plain = vocabulary.best(hidden)
    token = torch.tensor(text.drawn[:n], device=device)
    state, refined = torch.zeros_like(hidden[:, 0]), []
    for offset in range(k):
        state = model.sampler(hidden[:, offset], base.embedding[token], state)
        token = vocabulary.best(state)
        refined.append(token)
    return torch.stack(refined, 1).tolist(), plain.tolist()


def _runs(drafts: list[list[int]], drawn: list[int]) -> list[int]:
    """Count the agreeing drafts, for every anchor."""
    runs = []
    for start, draft in enumerate(drafts):
        rest = drawn[start + 1 :]
        run = 0
        while run < min(len(rest), len(draft)) and draft[run] == rest[run]:
            run += 1
        runs.append(run)
    return runs


def _look_up_runs(text: Text) -> list[int]:
    """Count what look-up in all that is known would agree on, for every anchor."""
    runs = []
    for start in range(len(text.drawn) - 1):
        known = text.prompt + text.drawn[: start + 1]
        guess, rest = look_up(known), text.drawn[start + 1 :]
        run = 0
        while run < min(len(guess), len(rest)) and guess[run] == rest[run]:
            run += 1
        runs.append(run)
    return runs


def look_up(known: list[int]) -> list[int]:
    """Return what followed the newest occurrence of the longest known ending."""
    for length in range(6, _SHORTEST_MATCH - 1, -1):
        ending = known[-length:]
        for start in range(len(known) - length - 1, -1, -1):
            if known[start : start + length] == ending:
                return known[start + length : start + length + _LONGEST_LOOKUP]
    return []


def passes(runs: list[int]) -> int:
    """Play checked drafting: each pass takes the agreed drafts and one more token."""
    at, passes = 0, 0
    while at < len(runs):
        at += runs[at] + 1
        passes += 1
    return passes


def _right(
    refined: list[list[int]], plain: list[list[int]], drawn: list[int]
) -> list[list[bool]]:
    """Say for every whole block which guesses are right, with the sampler first."""
    rows = []
    for start, (ours, others) in enumerate(zip(refined, plain, strict=True)):
        truth = drawn[start + 1 : start + 1 + len(ours)]
        if len(truth) == len(ours):
            rows.append([a == b for a, b in zip(ours + others, truth * 2, strict=True)])
    return rows


def _figures(
    outcomes: list[Outcome], right: list[list[bool]], k: int
) -> dict[str, float]:
    n_tokens = sum(outcome.n_tokens for outcome in outcomes)
    figures = {
        f"tpf_{name}": n_tokens / sum(getattr(outcome, name) for outcome in outcomes)
        for name in ("one", "masks", "plain", "lookup", "both")
    }
    figures["n_tokens"] = n_tokens
    names = [f"{n}_{offset + 2}" for n in ("right", "plain") for offset in range(k)]
    for place, name in enumerate(names if right else ()):
        figures[name] = sum(row[place] for row in right) / len(right)
    return {name: round(value, 4) for name, value in figures.items()}
