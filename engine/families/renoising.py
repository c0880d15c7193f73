"""Fills a canvas of uniform noise: nothing is a mask, every place may change its mind.

After the kept text comes a canvas of random tokens. Each pass draws all places, keeps
the surest and makes the others random again; what the last pass expected is told to the
next. A suffix stands at the end of the canvas: its places are pinned to certainty, so
they are always kept and cost nothing of the entropy that a pass may keep.
"""

import json
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.errors import CanvasError, ModelError

from .cache import Cache, CachePool
from .commit import negative_entropy, renoise
from .decoder import Rows
from .decoding import Sampling
from .draft import fill_all, finish, is_full
from .parts import Allowed, Parts
from .run import Ask, Job, Model, Seen, Stopped
from .tokens import Heal


class Schedule(NamedTuple):
    """How a canvas cools; the numbers are DiffusionGemma's defaults."""

    places: int = 256
    n_passes: int = 48
    hottest: float = 0.8
    coldest: float = 0.4
    bound: float = 0.1  # nats of entropy that one pass may keep
    n_stable: int = 1  # passes in a row with the same best guess
    certain: float = 0.005  # mean entropy in nats below which a stable canvas is done

    def temperature(self, n_left: int) -> float:
        """Return the temperature of the pass after which ``n_left`` - 1 remain."""
        return self.coldest + (self.hottest - self.coldest) * n_left / self.n_passes


class Conditioned(Model, Protocol):
    """A model that is told what the pass before expected."""

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        ...

    def condition(self, token_ids: Tensor, logits: Tensor | None) -> Tensor:
        """Return the vectors of a canvas."""
        ...


class Renoising:
    """A `Filler` for canvases of uniform noise."""

    def __init__(self, parts: Parts, model: Conditioned, schedule: Schedule) -> None:
        """Fill with ``model``, which is that of ``parts``."""
        self._parts, self._model = parts, model
        steps = parts.decoding.steps
        self._schedule = schedule._replace(n_passes=steps) if steps else schedule
        self._pool = CachePool(model.new_cache, 1, on=parts.decoding.cache)

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times; the schedule sets the temperature."""
        return fill_all(self._parts, self._job, canvases, draws, stop)

    def _job(self, canvas: Canvas, how: Sampling, heal: Heal) -> Job:
        tokens, context = self._parts.tokens, canvas.context
        allowed = Allowed(self._parts, canvas, heal)
        prompt = tokens.encode(context.extra + context.prefix + canvas.given)
        if self._parts.family.begins and tokens.begin_id is not None:
            prompt = [tokens.begin_id, *prompt]
        suffix = tokens.encode(context.suffix)
        n_places = self._schedule.places
        if len(prompt) + canvas.room + n_places > tokens.window:
            raise CanvasError(
                f"the prompt of {len(prompt)} tokens and the canvas do not fit the "
                f"model's window of {tokens.window}; lower the budgets"
            )
        work = _Work(self._pool.borrow(prompt[:-1]), prompt)
        stopped = False
        try:
            while len(work.token_ids) < canvas.room:
                n_free = n_places
                if suffix:
                    n_free = min(n_places, canvas.room, self._parts.decoding.canvas)
                yield from work.encode()
                pinned = suffix[: n_places - n_free]
                yield from self._denoise(work, n_free, pinned, how, allowed)
                if suffix or is_full(work.token_ids, tokens, canvas):
                    break
        except Stopped:
            stopped = True
        work.cache.truncate(len(prompt))
        self._pool.give_back(work.cache)
        room = canvas.room
        return finish(
            work.token_ids[:room],
            work.log_probabilities[:room],
            tokens,
            canvas,
            (work.forwards, work.n_fed, work.n_cached),
            stopped,
        )

    def _denoise(
        self,
        work: "_Work",
        n_free: int,
        pinned: Sequence[int],
        how: Sampling,
        allowed: Allowed,
    ) -> Generator[Ask, Tensor, None]:
        """Cool one canvas; its best guess becomes text."""
        model, schedule = self._model, self._schedule
        fixed = torch.tensor(pinned, dtype=torch.int64, device=model.device)
        n_places = n_free + len(pinned)
        canvas = torch.randint(
            model.vocabulary,
            (n_places,),
            generator=how.generator,
            device=model.device,
        )
        canvas[n_free:] = fixed
        expected: Tensor | None = None
        earlier: list[Tensor] = []
        best = canvas
        scores = torch.zeros(n_free)
        for n_left in range(schedule.n_passes, 0, -1):
            logits = yield work.ask(canvas, model.condition(canvas, expected))
            if bool(torch.isnan(logits).any()):
                return
            free = allowed(logits[:n_free], work.token_ids)
            logits = torch.cat([free, allowed.anywhere(logits[n_free:])])
            expected = _pin(logits / schedule.temperature(n_left), fixed)
            drawn = torch.multinomial(expected.softmax(-1), 1, generator=how.generator)
            best = expected.argmax(-1)
            canvas = renoise(
                expected, drawn[:, 0], schedule.bound, how.generator
            ).token_ids
            entropy = -negative_entropy(expected[:n_free])
            stable = len(earlier) >= schedule.n_stable and all(
                torch.equal(one, best) for one in earlier[-schedule.n_stable :]
            )
            earlier.append(best)
            chances = logits[:n_free].log_softmax(-1)
            scores = chances.gather(-1, best[:n_free, None])[:, 0].cpu()
            if self._parts.watch:
                self._parts.watch(work.seen(best[:n_free], scores))
            if stable and float(entropy.mean()) < schedule.certain:
                break
        work.write(best[:n_free].tolist(), scores.tolist())


class _Work:
    """The text of one canvas so far: kept, still to be kept, and written."""

    def __init__(self, cache: Cache, prompt: list[int]) -> None:
        self.cache = cache
        self.n_cached = len(cache.token_ids)
        self.forwards = self.n_fed = 0
        self.token_ids: list[int] = []
        self.log_probabilities: list[float] = []
        self._pending = prompt[self.n_cached :]

    def encode(self) -> Generator[Ask, Tensor, None]:
        """Keep all text that is not kept yet."""
        if not self._pending:
            return
        fed = torch.tensor(self._pending)
        start = len(self.cache.token_ids)
        self.forwards += 1
        self.n_fed += len(fed)
        positions = torch.arange(start, start + len(fed))
        yield Ask(Rows(fed, positions, self.cache), len(fed))
        self.cache.keep(self._pending)
        self._pending = []

    def ask(self, token_ids: Tensor, vectors: Tensor) -> Ask:
        start = len(self.cache.token_ids)
        self.forwards += 1
        self.n_fed += len(token_ids)
        positions = torch.arange(start, start + len(token_ids))
        return Ask(Rows(token_ids, positions, self.cache, vectors=vectors))

    def write(self, token_ids: list[int], scores: list[float]) -> None:
        self.token_ids.extend(token_ids)
        self.log_probabilities.extend(scores)
        self._pending = token_ids

    def seen(self, token_ids: Tensor, scores: Tensor) -> Seen:
        written = [*self.token_ids, *token_ids.tolist()]
        return Seen(
            written,
            [False] * len(written),
            [*self.log_probabilities, *scores.tolist()],
            self.forwards,
        )


def read_schedule(folder: Path) -> Schedule:
    """Return the schedule that a checkpoint's configs state, else the defaults."""
    stated: dict[str, object] = {}
    for name in ("config.json", "generation_config.json"):
        path = folder / name
        try:
            if path.exists():
                stated |= json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"{path} cannot be read ({error})") from error
    sampler = stated.get("sampler_config")
    if isinstance(sampler, dict):
        stated |= sampler
    names = {
        "places": "canvas_length",
        "n_passes": "max_denoising_steps",
        "hottest": "t_max",
        "coldest": "t_min",
        "bound": "entropy_bound",
        "n_stable": "stability_threshold",
        "certain": "confidence_threshold",
    }
    found = {ours: stated.get(theirs) for ours, theirs in names.items()}
    return Schedule(**{k: v for k, v in found.items() if v is not None})  # type: ignore[arg-type]


def _pin(logits: Tensor, fixed: Tensor) -> Tensor:
    """Make the last places certain of their fixed tokens."""
    if not len(fixed):
        return logits
    logits = logits.clone()
    logits[-len(fixed) :] = float("-inf")
    logits[-len(fixed) :].scatter_(1, fixed[:, None], 0.0)
    return logits
