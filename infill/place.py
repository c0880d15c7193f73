"""What the rules know of a span's surroundings: brackets, margins and neighbours."""

import re
from itertools import islice
from typing import NamedTuple

from niello.grammars.catalogue import Language

from .frame import Frame, find_frames
from .lines import (
    is_blank,
    line_above,
    line_below,
    line_end,
    line_start,
    lines_after,
    width,
)
from .parse import Parsed
from .span import Span, enclosing, opens, step

_MANY = 4  # lines after the span that a fill is compared with


class Place(NamedTuple):
    """What the rules know of a span: its language, brackets, margins and neighbours."""

    span: Span
    n_given: int  # length of the text typed, at the start of every text judged
    language: Language | None
    frames: tuple[Frame, ...]
    rest: str  # what follows the span on its last line
    following: tuple[str, ...]  # the next lines with text in them
    ahead: str  # the first text that follows, on this line or below
    last: bool  # ``following`` is all there is
    in_case: bool  # the block around is a shell's "case", whose labels end in ")"
    floor: int  # columns: a line indented less has left the block
    tabs: bool  # the document's indentation is in tabs
    lexed_from: int  # where code starts in the text, after a string the line starts in


def find_place(parsed: Parsed, span: Span, n_given: int) -> Place:
    """Gather what the rules need to know of a span's surroundings."""
    text = parsed.text
    cursor = span.start + n_given
    rest = text[span.end : line_end(text, span.end)]
    below = [line.rstrip() for line in islice(lines_after(text, span.end), 40)]
    following = [line for line in below if line]
    return Place(
        span,
        n_given,
        parsed.language,
        tuple(find_frames(parsed, cursor, span.end)),
        rest,
        tuple(following[:_MANY]),
        rest.strip() or (following[0].strip() if following else ""),
        len(following) < _MANY,
        _is_in_case(parsed, span.end),
        _floor(parsed, span, cursor),
        step(parsed) == "\t",
        _code_start(parsed, span),
    )


def _is_in_case(parsed: Parsed, cursor: int) -> bool:
    if parsed.language is None or "esac" not in parsed.language.continues:
        return False
    block = enclosing(parsed, cursor, ("block",))
    return block is not None and parsed.text.startswith("case", block.start)


def _floor(parsed: Parsed, span: Span, cursor: int) -> int:
    """Return the least indentation of lines inside the span, in columns."""
    text = parsed.text
    language = parsed.language
    typed = text[line_start(text, span.start) : cursor]
    if span.kind == "body":
        return width(typed) + 1
    if language is not None and language.layout == "brace":
        return 0
    if typed and is_blank(typed):
        return width(typed)
    above, below = line_above(text, cursor), line_below(text, span.end)
    header = _header(parsed, cursor)
    if header is not None:
        return header + 1
    if opens(above) and width(below) <= width(above):
        return width(above) + 1
    return min(width(above), width(below)) if below and parsed.tree is None else 0


def _header(parsed: Parsed, cursor: int) -> int | None:
    """Return the indentation of the definition that the cursor's block belongs to.

    Where blocks are closed by words it is the innermost block's. Elsewhere nothing
    tells how deep code goes on at a blank line, so it is the outermost function's.
    """
    text = parsed.text
    word = parsed.language is not None and parsed.language.layout == "word"
    end = cursor if word else len(text[:cursor].rstrip())
    names = ("function", "class", "block") if word else ("function",)
    top = line_start(text, cursor)
    found = None
    for node in parsed.captures("spans", end, end):
        if node.name == "class" and not word:
            found = None
        if node.name in names and node.start < top and (word or found is None):
            start = line_start(text, node.start)
            found = width(text[start : line_end(text, start)])
    return found


def _code_start(parsed: Parsed, span: Span) -> int:
    """Return where code starts in the span's text, if its line starts in a string."""
    inside = enclosing(parsed, span.end, ("string", "code"))
    if inside is not None and inside.name == "code":
        # The code that a string holds, after its "${", "$(" or "{".
        opener = re.compile(r"[({]").search(parsed.text, inside.start, span.end)
        return max(0, opener.end() - span.start) if opener else 0
    for node in parsed.captures("spans", span.start, span.start):
        if node.name in ("string", "comment") and node.start < span.start < node.end:
            return max(0, min(node.end, span.end) - span.start)
    return 0
