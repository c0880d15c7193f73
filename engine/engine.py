"""The engine: loads a model once and fills canvases with it. The folder's one door.

Not safe for several threads at once: its owner gives it one job after the other.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag, never
from niello.infill.context import Context
from niello.infill.errors import CanvasError

from .cache import CacheStore, KVCache, worth_a_copy
from .denoise import FEW, Filling, Limits, denoise, fixed_tokens, prefill
from .kernels import Kernel, choose
from .load import load_masks, load_transformer
from .model import Rows, Transformer
from .pace import Pace, measure
from .sample import Sampler
from .tokens import Tokens

_VARIED = 0.7  # temperature of further candidates when the first is greedy
_SURE = 0.95  # probability from which an unchecked guess is committed
_WINDOW = 32768  # most tokens of prompt and canvas together


class Scored(NamedTuple):
    """A token of scored text: its range in code points and its log-probability."""

    start: int
    end: int
    log_probability: float


class Engine:
    """A loaded model with its caches; implements `Filler`."""

    def __init__(
        self,
        model: Transformer,
        tokens: Tokens,
        limits: Limits,
        max_cache_bytes: int = 1 << 30,
    ) -> None:
        """Join the parts; `load` is the usual way in."""
        facts = model.facts
        self.model = model
        self.tokens = tokens
        self.limits = limits
        self._store = CacheStore(
            facts.n_layers, facts.n_kv_heads, facts.head_dim, max_cache_bytes
        )

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        kernel: Kernel | None = None,
        n_threads: int | None = None,
        check: bool = True,
        max_cache_bytes: int = 1 << 30,
    ) -> "Engine":
        """Read the model of a converted folder, with the quickest kernel here."""
        if n_threads:
            torch.set_num_threads(n_threads)
        kernel = kernel or choose()
        model = load_transformer(folder, kernel)
        pace = None
        if n_most := load_masks(folder, model, kernel):
            pace = Pace(measure(model), n_most)
        # Without a mask mode nothing is guessed that could be left unchecked.
        sure = 0.0 if check or pace is None else _SURE
        limits = Limits(n_draft=8, pace=pace, sure=sure)
        return cls(model, Tokens(folder), limits, max_cache_bytes)

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag = never
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times, all of them in the same passes."""
        firsts = self._begin(canvases, draws, stop)
        groups = [[first, *self._others(first, draws)] for first in firsts]
        denoise(self.model, [f for group in groups for f in group], self.limits, stop)
        for first in firsts:
            self._store.give_back(first.cache)
        return [[filling.result() for filling in group] for group in groups]

    def warm(self, context: Context, stop: StopFlag = never) -> None:
        """Compute the keys and values of a context ahead of its canvas."""
        canvas = Canvas(context, "", 0, lambda _: None)
        cache = self._store.borrow(self._fixed(canvas)[:-1])
        filling = self._filling(canvas, Sampler(), cache)
        prefill(self.model, [filling], stop)
        self._store.give_back(filling.cache)

    def score(self, text: str, stop: StopFlag = never) -> list[Scored]:
        """Return the log-probability of each token of ``text`` after those before it.

        The first token has none before it and is left out, as are all after a stop.
        """
        token_ids = self.tokens.encode(text)
        cache = self.model.new_cache()
        scored: list[Scored] = []
        place = len(self.tokens.decode(token_ids[:1]).decode("utf-8", "ignore"))
        spelled = self.tokens.decode(token_ids[:1])
        for start in range(0, len(token_ids) - 1, 64):
            if stop():
                break
            part = token_ids[start : start + 64]
            positions = torch.arange(start, start + len(part))
            rows = Rows(torch.tensor(part), positions, cache)
            logits = self.model.logits(self.model.forward([rows]))
            cache.keep(part)
            following = token_ids[start + 1 : start + 1 + len(part)]
            chances = logits[: len(following)].log_softmax(-1)
            for row, token_id in zip(chances, following, strict=True):
                spelled += self.tokens.decode([token_id])
                end = len(spelled.decode("utf-8", "ignore"))
                scored.append(Scored(place, end, float(row[token_id])))
                place = end
        return scored

    def clear_caches(self) -> None:
        """Free the keys and values of all documents."""
        self._store.clear()

    @property
    def cache_bytes(self) -> int:
        """Memory held by caches, in bytes."""
        return self._store.n_bytes

    def _begin(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[Filling]:
        """Compute the canvases' fixed text, what several begin with only once.

        The longest come first: the others find in them what they have in common, and
        wait for it. Those that wait for none are computed in the same passes.
        """
        prompts = [self._fixed(canvas) for canvas in canvases]
        waiting = sorted(range(len(canvases)), key=lambda n: -len(prompts[n]))
        begun: dict[int, Filling] = {}
        while waiting:
            lent = [filling.cache for filling in begun.values()]
            wave: list[int] = []
            for number in waiting:
                if all(not worth_a_copy(prompts[number], prompts[n]) for n in wave):
                    wave.append(number)
            for number in wave:
                cache = self._store.borrow(prompts[number][:-1], lent)
                # Chance of its own: what it draws is no matter of its neighbours.
                sampler = Sampler(draws.temperature, draws.seed)
                begun[number] = self._filling(canvases[number], sampler, cache)
            # What is left over is computed by each of them, with its first pass.
            n_left = FEW if draws.n == 1 else 1
            prefill(self.model, [begun[number] for number in wave], stop, n_left)
            waiting = [number for number in waiting if number not in begun]
        return [begun[number] for number in range(len(canvases))]

    def _others(self, first: Filling, draws: Draws) -> list[Filling]:
        """Return further candidates for a canvas that is begun."""
        varied = draws.temperature or _VARIED
        return [
            self._filling(
                first.canvas, Sampler(varied, draws.seed + number), first.cache.copy()
            )
            for number in range(1, draws.n)
        ]

    def _fixed(self, canvas: Canvas) -> list[int]:
        """Return the tokens that stand before anything is written."""
        prompt = self.tokens.prompt(canvas.context)
        fixed, n_healed = fixed_tokens(canvas, self.tokens)
        # The last of them is computed in the first pass that writes.
        return [*prompt, *fixed[: len(fixed) - n_healed]]

    def _filling(self, canvas: Canvas, sampler: Sampler, cache: KVCache) -> Filling:
        prompt = self.tokens.prompt(canvas.context)
        if len(prompt) + canvas.room > _WINDOW:
            raise CanvasError(
                f"the context of {len(prompt)} tokens and {canvas.room} tokens of room"
                f" do not fit the model's window of {_WINDOW}; lower the budget"
            )
        return Filling(canvas, self.tokens, prompt, cache, sampler)
