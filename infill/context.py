"""What the model may see of the world around a span.

The window's edges move in pages of lines, not with each line, so that what a model has
computed of the prefix stays good while the cursor moves.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from .lines import is_blank, line_end, line_start, to_line_feeds
from .parse import Parsed
from .span import Span

Count = Callable[[str], int]
"""How many tokens a text has."""


class _Outline(NamedTuple):
    text: str
    whole: bool  # whether it is of a text that parsed


_PAGE = 32  # lines that the window moves by
_ANCHOR_PAGE = 16  # lines that the anchor moves by
_NOTES = re.compile(r"(?:\n[ \t]*(?:#|//)[^\n]*)+\s*\Z")
_TOP = 4000  # code points at a file's start where its imports are looked for
_NEAR = 5000  # code points in front of the window where signatures are
_CUT = 512  # code points, where a line is longer than the budget
_OUTLINES_KEPT = 8
_outlines: dict[tuple[str, int, str], _Outline] = {}  # the latest used last


class Context(NamedTuple):
    """Fixed text around a canvas; ``extra`` is of other files and stands in front.

    Where the suffix stands in front of the canvas, so it does in front of the prefix's
    last lines, those from ``anchor`` on. The cursor moves among them, and what a model
    has computed of the suffix stays good.
    """

    prefix: str
    suffix: str
    extra: str = ""
    anchor: int | None = None  # code points of the prefix; None is its end

    @property
    def lead(self) -> str:
        """The prefix from the anchor on."""
        return "" if self.anchor is None else self.prefix[self.anchor :]


def estimate(text: str) -> int:
    """Return about how many tokens a text of code has."""
    return len(text) * 10 // 32


def gather(
    parsed: Parsed,
    span: Span,
    prefix_tokens: int,
    suffix_tokens: int,
    extra: str = "",
    count: Count = estimate,
) -> Context:
    """Return the context of a span within a budget of tokens, with LF line ends."""
    text = parsed.text
    start = _window_start(text, span.start, prefix_tokens, count)
    end = _window_end(text, span.end, suffix_tokens, count)
    outline = _steady_outline(parsed, start, prefix_tokens // 4, count) if start else ""
    after = line_break_end(parsed, span)
    anchor = max(start, _page_start(text, span.start))
    head = outline + to_line_feeds(text[start:anchor])
    return Context(
        head + to_line_feeds(text[anchor : span.start]),
        to_line_feeds(text[after : max(after, end)]),
        extra,
        len(head),
    )


def _page_start(text: str, offset: int) -> int:
    """Return where the anchor's page of ``offset`` starts."""
    anchor = offset
    for _ in range(text.count("\n", 0, offset) % _ANCHOR_PAGE + 1):
        anchor = text.rfind("\n", 0, anchor)
    return anchor + 1


def line_break_end(parsed: Parsed, span: Span) -> int:
    """Return where the suffix begins: after the line break, where it comes next.

    Whole lines end with one of their own, and models learn to write it; the judge takes
    it off again, because the line keeps the one it has.
    """
    text = parsed.text
    stop = line_end(text, span.end)
    if is_blank(text[span.end : stop]) and stop < len(text):
        return stop + (2 if text.startswith("\r\n", stop) else 1)
    return span.end


def _window_start(text: str, offset: int, budget: int, count: Count) -> int:
    """Return the first start of a page from which the prefix fits."""
    floor = max(0, offset - budget * 12)  # No tokenizer makes longer tokens than that.
    if floor == 0 and count(text[:offset]) <= budget:
        return 0
    n_lines = text.count("\n", 0, floor)
    pages = []
    position = floor
    while (found := text.find("\n", position, offset)) >= 0:
        n_lines += 1
        position = found + 1
        if n_lines % _PAGE == 0:
            pages.append(position)
    first = bisect_left(
        pages, True, key=lambda page: count(text[page:offset]) <= budget
    )
    if first < len(pages):
        return pages[first]
    # Long lines: by steps of code points, from the line nearest to the budget.
    step = -(-floor // _CUT) * _CUT
    while step < offset and count(text[step:offset]) > budget:
        step += _CUT
    return min(step, offset)


def _window_end(text: str, offset: int, budget: int, count: Count) -> int:
    """Return how far the suffix fits, at a line's end if there is one."""
    end = min(len(text), offset + budget * 12)
    while end > offset and (n_tokens := count(text[offset:end])) > budget:
        end = offset + min(end - offset - 1, (end - offset) * budget // n_tokens)
    if end < len(text):
        line = text.rfind("\n", offset, end)
        end = line + 1 if line >= 0 else end
    return end


def _steady_outline(parsed: Parsed, end: int, budget: int, count: Count) -> str:
    """Return the outline as it was when this head of a text last stood in a whole one.

    While something is typed the text seldom parses, and what the parser makes of the
    lines above can change with each key. The outline stands first in a prompt: a change
    of it costs the whole.
    """
    key = (parsed.name, budget, parsed.text[:end])
    kept = _outlines.pop(key, None)
    if kept is None or not (kept.whole or parsed.broken):
        kept = _Outline(_outline(parsed, end, budget, count), not parsed.broken)
    _outlines[key] = kept
    while len(_outlines) > _OUTLINES_KEPT:
        del _outlines[next(iter(_outlines))]
    return kept.text


def _outline(parsed: Parsed, end: int, budget: int, count: Count) -> str:
    """Return imports and signatures from in front of the window, in their order.

    What the window lies in comes first when the budget is short, then imports, then the
    signatures nearest to the window.
    """
    near = max(0, end - _NEAR)
    nodes = parsed.captures("context", near, end)
    if near > 0:
        top = parsed.captures("context", 0, min(near, _TOP))
        nodes = [*nodes, *(node for node in top if node.end < near)]
    bodies = [node for node in nodes if node.name == "body"]
    pieces: list[tuple[int, int, str]] = []
    for node in nodes:
        if node.name not in ("import", "signature") or node.start >= end:
            continue
        head = min(
            (body.start for body in bodies if node.start < body.start < node.end),
            default=node.end,
        )
        start = line_start(parsed.text, node.start)
        if head > end or count(parsed.text[start:head]) > budget // 2:
            continue
        rank = 0 if node.end > end else 1 if node.name == "import" else 2
        text = _NOTES.sub("", to_line_feeds(parsed.text[start:head])).rstrip()
        pieces.append((rank, -start, text))
    kept = []
    for rank, start, text in sorted(pieces):
        budget -= count(text) + 1
        if budget < 0:
            break
        kept.append((-start, rank, text))
    return "".join(f"{text}\n" for _, _, text in sorted(kept))
