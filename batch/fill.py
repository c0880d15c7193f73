"""From targets to outcomes: canvases filled in batches, judged, and tried again.

The width of a batch changes how fast a run is, never which texts it may choose from:
every try of every target has its own seed.
"""

import math
import re
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from niello.infill.canvas import Canvas, Draws, Fill, Filler, StopRule, never
from niello.infill.errors import CanvasError
from niello.infill.parse import Parsed

from .gates import Judged, judge
from .holes import Hole, draw_hole
from .recipe import HoleRule, Step
from .targets import Target
from .width import Width

_RETRY_TEMPERATURE = 0.7
_TAIL = 20  # code points at the end of a text that tell whether it was cut


class FillOptions(NamedTuple):
    """What a user may choose about filling; part of what a run is known by."""

    max_tries: int = 3
    min_confidence: float = 0.0  # geometric mean of the tokens' probabilities, 0 to 1
    seed: int = 0
    room: int = 256  # most tokens a hole


class Job(NamedTuple):
    """One target of one step in the text as the step found it."""

    parsed: Parsed
    target: Target
    step: Step


class Outcome(NamedTuple):
    """How a target ended; ``gate`` names what refused its text, if anything."""

    gate: str
    text: str
    confidence: float  # as in FillOptions.min_confidence
    tries: int
    seconds: float
    n_tokens: int


class _Try:
    """The fills of one job's holes, growing hole by hole."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.fills: dict[int, str] = {}
        self.log_probability = 0.0
        self.n_tokens = 0
        self.seconds = 0.0
        self.too_large = False
        self.cut_off = False  # a text goes on where its room has ended

    def add(self, number: int, text: str, fill: Fill, seconds: float) -> None:
        """Take one text in; it is also that of later holes of the same name."""
        template = self.job.target.template
        for other in range(number, len(template.holes)):
            if template.same_hole(other) == number:
                self.fills[other] = text
        self.log_probability += fill.confidence * max(1, fill.n_tokens)
        self.n_tokens += max(1, fill.n_tokens)
        self.seconds += seconds

    def outcome(self, options: FillOptions, n_tries: int) -> Outcome:
        confidence = math.exp(min(0.0, self.log_probability / max(1, self.n_tokens)))
        if self.too_large:
            judged = Judged("window", "")
        elif self.cut_off:
            judged = Judged("room", self.job.target.template.with_fills(self.fills))
        else:
            judged = judge(self.job.parsed, self.job.target, self.job.step, self.fills)
        gate = judged.gate
        if not gate and confidence < options.min_confidence:
            gate = "confidence"
        return Outcome(
            gate, judged.text, confidence, n_tries, self.seconds, self.n_tokens
        )


def fill_jobs(
    jobs: Sequence[Job], filler: Filler, options: FillOptions, width: Width
) -> Iterator[tuple[int, Outcome]]:
    """Yield the outcome of each job by its number, as soon as it is settled."""
    most = options.max_tries
    # One queue a try. Neighbours in a file go together, or one after the other: the
    # engine finds in its caches what they have in common, and what a try before had.
    queues = [deque(range(len(jobs))), *(deque[int]() for _ in range(1, most))]
    spent = [0.0] * len(jobs)
    while any(queues):
        again = _next_queue(queues, width.now)
        queue = queues[again]
        batch = [queue.popleft() for _ in range(min(width.now, len(queue)))]
        tries = [_Try(jobs[number]) for number in batch]
        temperature = _RETRY_TEMPERATURE if again else 0.0
        draws = Draws(1, temperature, options.seed + again)
        _fill_holes(tries, filler, draws, options, width)
        for number, attempt in zip(batch, tries, strict=True):
            outcome = attempt.outcome(options, again + 1)
            spent[number] += outcome.seconds
            last = again + 1 == most or outcome.gate in FINAL
            if outcome.gate and not last:
                queues[again + 1].append(number)
            else:
                yield number, outcome._replace(seconds=spent[number])


def _next_queue(queues: Sequence[Collection[int]], width: int) -> int:
    """Return the last queue with enough for a batch, else the first that is not empty.

    Another try is cheap while its context is still computed, even in a narrow batch.
    """
    enough = max(1, width // 4)
    full = [number for number, queue in enumerate(queues) if len(queue) >= enough]
    return full[-1] if full else next(n for n, queue in enumerate(queues) if queue)


FINAL = ("unchanged", "window", "confidence")
"""Ends that another try would not change: the first text is the likeliest there is."""


def redraw(job: Job, filler: Filler, options: FillOptions, n: int) -> list[Outcome]:
    """Return further candidates for a job that pass the gates, no two alike."""
    found: dict[str, Outcome] = {}
    for number in range(1, n + 1):
        draws = Draws(1, _RETRY_TEMPERATURE, options.seed + 1000 * number)
        attempt = _Try(job)
        _fill_holes([attempt], filler, draws, options, Width(1))
        outcome = attempt.outcome(options, number)
        if not outcome.gate:
            found.setdefault(outcome.text, outcome)
    return list(found.values())


def _fill_holes(
    tries: Sequence[_Try],
    filler: Filler,
    draws: Draws,
    options: FillOptions,
    width: Width,
) -> None:
    """Fill all first holes together, then all second holes, and so on."""
    for hole in range(max(len(t.job.target.template.holes) for t in tries)):
        batch = [
            attempt
            for attempt in tries
            if hole < len(attempt.job.target.template.holes)
            and hole not in attempt.fills
            and not attempt.too_large
        ]
        if batch:
            _fill_batch(batch, hole, filler, draws, options, width)


def _fill_batch(
    batch: list[_Try],
    hole: int,
    filler: Filler,
    draws: Draws,
    options: FillOptions,
    width: Width,
) -> None:
    holes = [_draw(attempt, hole, options.room) for attempt in batch]
    canvases = [drawn.canvas for drawn in holes]
    started = time.monotonic()
    try:
        rows = filler.fill(canvases, draws, never)
    except CanvasError:
        if len(batch) == 1:
            batch[0].too_large = True
            return
        for attempt in batch:
            _fill_batch([attempt], hole, filler, draws, options, width)
        return
    seconds = time.monotonic() - started
    width.record(len(batch), sum(row[0].n_tokens for row in rows), seconds)
    for attempt, drawn, row in zip(batch, holes, rows, strict=True):
        text = drawn.judged(row[0].text) or ""
        whole = row[0].text.rstrip()
        if until := _rule(attempt.job, hole).until:
            text = re.split(until, text, maxsplit=1)[0].rstrip()
        if row[0].reason == "room" and text and whole.endswith(text[-_TAIL:]):
            attempt.cut_off = True  # Neither a rule nor the judge has ended it.
        attempt.add(hole, text, row[0], seconds / len(batch))


def _draw(attempt: _Try, number: int, room: int) -> Hole:
    job, rule = attempt.job, _rule(attempt.job, number)
    room = rule.room or room
    drawn = draw_hole(job.parsed, job.target, attempt.fills, number, room)
    if not rule.until:
        return drawn
    stop = _ending_before(rule.until, drawn.canvas)
    return drawn._replace(canvas=drawn.canvas._replace(stop=stop))


def _ending_before(until: str, canvas: Canvas) -> StopRule:
    """Return the canvas's stop rule, which also ends where its text is cut anyway."""
    mark, n_given = re.compile(until), len(canvas.given)

    def stop(text: str) -> int | None:
        limit = canvas.stop(text)
        written = text[n_given:]
        found = mark.search(written, len(written) - len(written.lstrip()))
        own = n_given + found.start() if found else None
        return min((end for end in (limit, own) if end is not None), default=None)

    return stop


def _rule(job: Job, number: int) -> HoleRule:
    return job.step.holes.get(job.target.template.holes[number], HoleRule())
