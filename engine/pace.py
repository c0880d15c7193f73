"""How much a pass feeds: what is worth its row, by what rows cost here.

A pass of n rows takes about ``fixed + n * each`` seconds. A draft token is fed as long
as all before it and itself are likely enough to be right, a block of masks where the
draft is likely to end (cf. the growing draft trees of arXiv 2406.16858). How likely is
learned from what has been checked, as a guesser's own probabilities may be off.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import inf
from typing import NamedTuple

import torch

from .cache import STEP
from .draft import N_KINDS, N_SURENESS, Draft
from .kernels import seconds
from .model import Rows, Transformer
from .timings import recall, remember

_REACHED = (0.7, 0.45, 0.25, 0.15, 0.1)  # chance that a block is right so far, at first
_FOUND = (0.4, 0.55, 0.75)  # chance of what is looked up, by the length of the ending
_WEIGHT = 20.0  # guesses that these count for
_LEAST = 0.01  # of a pass, what a row costs at least
_CONTEXT = 6 * STEP  # rows of a usual context


class Cost(NamedTuple):
    """Seconds of a pass, of each of its rows, and of guessing the token of a mask."""

    fixed: float
    each: float
    guess: float = 0.0


class Plan(NamedTuple):
    """What one pass feeds of a draft."""

    n_draft: int
    blocks: dict[int, int]  # lengths of blocks of masks, by draft tokens before them


class Pace:
    """Plans passes, and learns from each checked draft."""

    def __init__(self, cost: Cost, n_most: int) -> None:
        """Allow blocks of up to ``n_most`` masks; 0 never uses any."""
        self._cost = cost
        self.n_most = min(n_most, len(_REACHED))
        surenesses = [(kind + 0.5) / N_SURENESS for kind in range(N_SURENESS)]
        self._right = [_WEIGHT * share for share in (*surenesses, *_FOUND)]
        self._tried = [_WEIGHT] * N_KINDS
        self._reached = [_WEIGHT * share for share in _REACHED]
        self._guessed = [_WEIGHT] * len(_REACHED)
        self.outcomes = Counter[tuple[int, bool]]()  # drafts' tokens by place, if right

    def learn(self, draft: Draft, n_checked: int, n_agreed: int) -> None:
        """Count a draft of whose first ``n_checked`` tokens ``n_agreed`` were right."""
        for place, kind in enumerate(draft.kinds[: min(n_checked, n_agreed + 1)]):
            self._tried[kind] += 1
            self._right[kind] += place < n_agreed
            self.outcomes[place, place < n_agreed] += 1
        guesses = [kind for kind in draft.kinds if kind < N_SURENESS]
        for place, chance in enumerate(self._chances(draft)[: len(guesses)]):
            self._guessed[place] += 1
            self._reached[place] += chance

    def likely(self, draft: Draft) -> float:
        """Return how many tokens of a draft are right on average."""
        return sum(self._chances(draft))

    def plan(self, draft: Draft, n_canvases: int = 1) -> Plan:
        """Return what gives most tokens a second.

        Canvases filled in one pass share what it costs beside its rows.
        """
        worth, each = self._seconds_a_token(n_canvases), self._cost.each
        right = [1.0]
        for chance in self._chances(draft):
            if chance * worth <= each:
                break
            right.append(chance)
        blocks = {}
        for n_before, (here, beyond) in enumerate(pairwise([*right, 0.0])):
            if n_masks := self._block(here - beyond, worth, n_canvases):
                blocks[n_before] = n_masks
        return Plan(len(right) - 1, blocks)

    def _chances(self, draft: Draft) -> list[float]:
        """Return for each token how likely it is right, and all before it."""
        chances, chance = [], 1.0
        for kind in draft.kinds:
            chance *= self._right[kind] / self._tried[kind]
            chances.append(chance)
        return chances

    def _block(self, chance: float, worth: float, n_canvases: int) -> int:
        """Return the best length of a block that is used with a chance."""
        each, guess = self._cost.each, self._cost.guess / n_canvases
        best, most, gained = 0, 0.0, 0.0
        for n_masks in range(1, self.n_most + 1):
            gained += self._reach(n_masks)
            # Its guesses are fed in the pass that comes, and blocks after them.
            follow = n_masks * (guess + 2 * each)
            gain = chance * (gained * worth - follow) - n_masks * each
            if gain > most:
                best, most = n_masks, gain
        return best

    def _reach(self, n_masks: int) -> float:
        """Return how often the last of so many masks is right, and all before it."""
        return self._reached[n_masks - 1] / self._guessed[n_masks - 1]

    def _seconds_a_token(self, n_canvases: int) -> float:
        """Return what a token takes with blocks of the best length."""
        fixed, guess = self._cost.fixed / n_canvases, self._cost.guess / n_canvases
        each = self._cost.each
        best, gained = fixed + each, 1.0
        for n_masks in range(1, self.n_most + 1):
            gained += self._reach(n_masks)
            # The last token, its draft, and about two blocks.
            spent = fixed + (1 + 3 * n_masks) * each + n_masks * guess
            best = min(best, spent / gained)
        return best


def measure(model: Transformer) -> Cost:
    """Time passes of 1 and of 16 rows and a guess; return the best known of each.

    Noise only ever adds, so the best of all starts on this machine is kept.
    """
    facts, cache = model.facts, model.new_cache()
    cache.reserve(_CONTEXT)
    cache.keep([0] * (_CONTEXT - 16))

    def run(n_rows: int) -> None:
        rows = Rows(torch.zeros(n_rows).long(), torch.arange(n_rows), cache)
        model.logits(model.forward([rows]))

    mask = torch.zeros(1, facts.width)
    works: dict[str, Callable[[], object]] = {
        "a pass of 1 row": partial(run, 1),
        "a pass of 16 rows": partial(run, 16),
        "a guess": partial(model.guess, [mask], [0]),
    }
    shape = f"{facts.n_layers} layers of {facts.width}"
    names = [f"seconds of {work}, {shape}" for work in works]
    best = [recall(name, float) or inf for name in names]
    for _ in range(3 if inf in best else 1):
        now = [seconds(work, 1) for work in works.values()]
        best = [min(pair) for pair in zip(best, now, strict=True)]
    for name, figure in zip(names, best, strict=True):
        remember(name, figure)
    few, many, guess = best
    # A busy machine must not make rows seem free.
    each = max(few * _LEAST, (many - few) / 15)
    return Cost(few - each, each, guess)
