"""The engine: loads a model once and fills canvases with it. The folder's one door.

Not safe for several threads at once: its owner gives it one job after the other.
"""

from bisect import bisect_left
from codecs import getincrementaldecoder
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import torch

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag, never
from niello.infill.context import Context
from niello.infill.errors import CanvasError

from .cache import CacheStore, KVCache, worth_a_copy
from .denoise import FEW, denoise, prefill, text_rows
from .filling import Encoded, Filling, Limits, encode
from .join import join_scores
from .kernels import QUICKEST, Kernel
from .load import load_judge, load_masks, load_transformer
from .model import Stopped, Transformer
from .pace import Pace, measure
from .sample import Sampler
from .threads import Threads
from .tokens import Tokens

_VARIED = 0.7  # temperature of further candidates when the first is greedy
_SURE = 0.95  # probability from which an unchecked guess is committed
_SCORED = 64  # tokens whose outputs are held at once
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
        """Read the model of a converted folder, with the quickest kernels here."""
        if n_threads:
            torch.set_num_threads(n_threads)
        kernel = kernel or QUICKEST
        with ThreadPoolExecutor(1) as beside:
            tokens = beside.submit(Tokens, folder)
            model = load_transformer(folder, kernel)
        pace = None
        if n_most := load_masks(folder, model, kernel):
            pace = Pace(measure(model), n_most)
        load_judge(folder, model)
        model.watched = Threads(torch.get_num_threads()).watched
        # Without a mask mode nothing is guessed that could be left unchecked.
        sure = 0.0 if check or pace is None else _SURE
        limits = Limits(n_draft=8, pace=pace, sure=sure)
        return cls(model, tokens.result(), limits, max_cache_bytes)

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag = never
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times, all of them in the same passes."""
        firsts = self._begin(canvases, draws, stop)
        groups = [[first, *self._others(first, draws)] for first in firsts]
        denoise(self.model, [f for group in groups for f in group], self.limits, stop)
        filled = []
        for canvas, group in zip(canvases, groups, strict=True):
            fills = [filling.result() for filling in group]
            filled.append(self._join(canvas, fills, group[0].cache, stop))
        for first in firsts:
            self._store.give_back(first.cache)
        return filled

    def warm(self, context: Context, stop: StopFlag = never) -> None:
        """Compute the keys and values of a context ahead of its canvas."""
        canvas = Canvas(context, "", 0, lambda _: None)
        fixed = self._encode(canvas)
        # The last token is computed in the first pass that writes.
        cache = self._store.borrow(fixed.token_ids[:-1])
        filling = Filling(canvas, self.tokens, fixed, cache, Sampler())
        prefill(self.model, [filling], stop)
        self._store.give_back(filling.cache)

    def score(self, text: str, start: int, stop: StopFlag = never) -> list[Scored]:
        """Return the log-probability of each token of ``text`` after those before it.

        Tokens that begin before ``start``, in code points, are read and not scored, as
        is the first, which has none before it; all are left out after a stop.
        """
        token_ids = self.tokens.encode(text)
        ends = self._ends(token_ids)
        first = max(1, bisect_left([0, *ends], start))
        cache = self._store.borrow(token_ids[: first - 1])
        scored: list[Scored] = []
        try:
            while (begun := len(cache.token_ids)) < len(token_ids) - 1:
                part = token_ids[begun:-1][:_SCORED]
                hidden = self.model.forward([text_rows(part, cache)], stop)
                cache.keep(part)
                asked = range(max(first, begun + 1), begun + 1 + len(part))
                rows = hidden[len(hidden) - len(asked) :]
                chances = self.model.logits(rows).log_softmax(-1)
                for row, number in zip(chances, asked, strict=True):
                    chance = float(row[token_ids[number]])
                    scored.append(Scored(ends[number - 1], ends[number], chance))
        except Stopped:
            scored.clear()
        self._store.give_back(cache)
        return scored

    def _ends(self, token_ids: Sequence[int]) -> list[int]:
        """Return where each token ends, in code points of the text."""
        decoder = getincrementaldecoder("utf-8")("ignore")
        lengths = (len(decoder.decode(self.tokens.decode([i]))) for i in token_ids)
        return list(accumulate(lengths))

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
        fixed = [self._encode(canvas) for canvas in canvases]
        token_ids = [each.token_ids for each in fixed]
        waiting = sorted(range(len(canvases)), key=lambda n: -len(token_ids[n]))
        begun: dict[int, Filling] = {}
        while waiting:
            lent = [filling.cache for filling in begun.values()]
            wave: list[int] = []
            for number in waiting:
                own = token_ids[number]
                if all(not worth_a_copy(own, token_ids[n]) for n in wave):
                    wave.append(number)
            for number in wave:
                cache = self._store.borrow(token_ids[number][:-1], lent)
                begun[number] = Filling(
                    *(canvases[number], self.tokens, fixed[number], cache),
                    Sampler(draws.temperature, draws.seed),
                )
            # What is left over is computed by each of them, with its first pass.
            n_left = FEW if draws.n == 1 else 1
            prefill(self.model, [begun[number] for number in wave], stop, n_left)
            waiting = [number for number in waiting if number not in begun]
        return [begun[number] for number in range(len(canvases))]

    def _others(self, first: Filling, draws: Draws) -> list[Filling]:
        """Return further candidates for a canvas that is begun."""
        varied = draws.temperature or _VARIED
        return [
            Filling(
                *(first.canvas, self.tokens, first.fixed, first.cache.copy()),
                Sampler(varied, draws.seed + number),
            )
            for number in range(1, draws.n)
        ]

    def _join(
        self, canvas: Canvas, fills: list[Fill], cache: KVCache, stop: StopFlag
    ) -> list[Fill]:
        """Tell candidates apart by what follows them; a single one needs no telling."""
        texts = list(dict.fromkeys(fill.text for fill in fills))
        if len(texts) == 1 or not canvas.after or stop():
            return fills
        scores = join_scores(self.model, self.tokens, canvas, texts, cache)
        joins = dict(zip(texts, scores, strict=True))
        return [fill._replace(join=joins[fill.text]) for fill in fills]

    def _encode(self, canvas: Canvas) -> Encoded:
        fixed = encode(canvas, self.tokens)
        n_fixed = len(fixed.token_ids)
        if n_fixed + canvas.room > _WINDOW:
            raise CanvasError(
                f"the context of {n_fixed} tokens and {canvas.room} tokens of room"
                f" do not fit the model's window of {_WINDOW}; lower the budget"
            )
        return fixed
