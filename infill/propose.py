"""The sentence the project is about: snapshot and cursor become judged candidates."""

from typing import NamedTuple

from .canvas import Canvas, Draws, Fill, Filler, StopFlag, never
from .context import Count, estimate, gather, line_break_end
from .judge import Judge, Judged
from .layers import layer_at
from .lines import is_blank, line_end, line_start, to_line_feeds
from .parse import Parsed, parse
from .snapshot import Snapshot
from .span import Span, find_span
from .stop import stop_rule

_AFTER = 200  # code points behind a span that candidates are ranked by


class Options(NamedTuple):
    """What a caller may choose about proposing."""

    draws: Draws = Draws()
    room: int = 256  # most tokens to fill
    prefix_tokens: int = 1024  # budget in front of the span, in tokens
    suffix_tokens: int = 512  # budget after the span, in tokens


class Candidate(NamedTuple):
    """A text that passed the judge; apply as text[:start] + text + text[end:].

    Its span is what it replaces, the given text in front left out.
    """

    span: Span
    text: str
    score: float  # mean log-probability of its tokens, nats
    verdict: tuple[str, ...]  # the rules that cut or repaired it, in order
    n_tokens: int = 0
    forwards: int = 0
    join: float = 0.0  # how well the file goes on after it, nats; 0 for a single one


def propose(
    snapshot: Snapshot,
    cursor: int,
    filler: Filler,
    options: Options,
    stop: StopFlag = never,
    *,
    parsed: Parsed | None = None,
    extra: str = "",
    count: Count = estimate,
) -> list[Candidate]:
    """Return judged candidates for the span at ``cursor`` (code points), best first.

    ``parsed`` is the snapshot's text if the caller has parsed it already, ``extra`` is
    text of other files, ``count`` the model's own measure of a text.
    """
    if parsed is None:
        parsed = parse(snapshot.text, snapshot.language)
    span = find_span(parsed, cursor)
    return propose_in(
        parsed,
        span,
        filler,
        options,
        stop,
        n_given=span.end - span.start,
        extra=extra,
        count=count,
    )


def propose_in(
    parsed: Parsed,
    span: Span,
    filler: Filler,
    options: Options,
    stop: StopFlag = never,
    *,
    n_given: int = 0,
    extra: str = "",
    count: Count = estimate,
) -> list[Candidate]:
    """Return judged candidates for a span whose first ``n_given`` code points stay."""
    canvas = draw_canvas(parsed, span, options, n_given, extra, count)
    judge = Judge(layer_at(parsed, span.end), span, n_given, canvas.stop)
    (fills,) = filler.fill([canvas], options.draws, stop)
    candidates: dict[str, Candidate] = {}
    replaced = span._replace(start=span.start + n_given)
    for fill in {fill.text: fill for fill in reversed(fills)}.values():
        judged = judge.judge(_whole_lines(fill), fill.reason == "span")
        if judged is not None and not judged.fits:
            judged, fill = _refill(judge, judged, fill, canvas, filler, options, stop)
        if judged is None or not judged.fits or judged.text in candidates:
            continue
        candidates[judged.text] = Candidate(
            replaced,
            judged.text[n_given:],
            fill.confidence,
            judged.verdict,
            fill.n_tokens,
            fill.forwards,
            fill.join,
        )
    return sorted(candidates.values(), key=lambda each: -each.score - each.join)


def _whole_lines(fill: Fill) -> str:
    """Return a fill without the line in whose middle the room ended, if not the first.

    A name that is cut short is one as well, so no parser finds it.
    """
    lines = fill.text.rpartition("\n")[0]
    return fill.text if fill.reason != "room" or is_blank(lines) else lines


def draw_canvas(
    parsed: Parsed,
    span: Span,
    options: Options,
    n_given: int = 0,
    extra: str = "",
    count: Count = estimate,
) -> Canvas:
    """Return the canvas of a span: its context, what is given, when it is full."""
    context = gather(
        parsed, span, options.prefix_tokens, options.suffix_tokens, extra, count
    )
    given = to_line_feeds(parsed.text[span.start : span.start + n_given])
    stop = stop_rule(layer_at(parsed, span.end), span, n_given)
    # Nobody goes to a blank line to be told that nothing is missing there.
    text = parsed.text
    line = text[line_start(text, span.start) : line_end(text, span.end)]
    after = to_line_feeds(text[span.end : span.end + _AFTER])
    return Canvas(context, given, options.room, stop, not is_blank(line), after)


def _refill(
    judge: Judge,
    judged: Judged,
    fill: Fill,
    canvas: Canvas,
    filler: Filler,
    options: Options,
    stop: StopFlag,
) -> tuple[Judged | None, Fill]:
    """Mask the part that does not parse once more and judge what comes instead."""
    start, end = judged.broken
    if stop() or (start >= len(judged.text) and not judged.text):
        return None, fill
    head = to_line_feeds(judged.text[:start])
    tail = to_line_feeds(judged.text[end:])
    if tail and line_break_end(judge.parsed, judge.span) > judge.span.end:
        tail += "\n"
    context = canvas.context._replace(suffix=tail + canvas.context.suffix)
    masked = canvas._replace(context=context, given=head)
    draws = Draws(1, options.draws.temperature, options.draws.seed)
    (fills,) = filler.fill([masked], draws, stop)
    if not fills:  # It was stopped.
        return None, fill
    (again,) = fills
    written = head[judge.n_given :] + again.text
    repaired = judge.judge(written + tail, again.reason == "span")
    if repaired is None or not repaired.fits:
        return None, fill
    verdict = (*judged.verdict, "refilled", *repaired.verdict)
    total = fill._replace(
        forwards=fill.forwards + again.forwards,
        n_tokens=fill.n_tokens + again.n_tokens,
        confidence=min(fill.confidence, again.confidence),
    )
    return repaired._replace(verdict=verdict), total
