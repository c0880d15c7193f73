"""Where to fill: the stretch of a document that a candidate replaces.

The span of a cursor starts where the cursor's line does and ends at the cursor, so the
text typed on the line is the ``given`` part of the span and typing leaves the prefix as
it is. What follows the cursor is never inside, however broken the code around it: where
a fill has to end is the matter of its kind (``stop.py``).
"""

from typing import Literal, NamedTuple

from .layers import layer_at
from .lines import (
    is_blank,
    lead,
    line_above,
    line_below,
    line_end,
    line_start,
    width,
)
from .parse import Node, Parsed

Kind = Literal["line", "block", "body", "list", "string", "comment", "node"]
"""What a span holds: the rest of a statement, statements, the body of an opener, what
stands between brackets, the rest of a string or comment, nodes of the tree."""

# A longer line is cut in steps in front of the span, so that typing keeps the prefix.
_LONGEST_GIVEN = 1200
_OPENERS = (":", "{", "(", "[", "then", "do", "=>", "->", "begin")


class Span(NamedTuple):
    """A half-open range of code points ``[start, end)`` that a candidate replaces."""

    start: int
    end: int
    kind: Kind
    indent: str  # white space in front of the span's first line


def find_span(parsed: Parsed, cursor: int) -> Span:
    """Return the span of a cursor, with the text typed on its line in front."""
    text = parsed.text
    cursor = min(max(cursor, 0), len(text))
    parsed = layer_at(parsed, cursor)
    if text[cursor - 1 : cursor + 1] == "\r\n":
        cursor -= 1  # Between the two is no place to write.
    start = line_start(text, cursor)
    if cursor - start > _LONGEST_GIVEN:
        step = _LONGEST_GIVEN // 2
        start += ((cursor - start) // step - 1) * step
    head = text[start:cursor]
    rest = text[cursor : line_end(text, cursor)]
    blank = is_blank(head) and is_blank(rest)
    indent = expected_indent(parsed, cursor) if blank else lead(head)
    return Span(start, cursor, _kind(parsed, cursor, head, rest), indent)


def _kind(parsed: Parsed, cursor: int, head: str, rest: str) -> Kind:
    inside = enclosing(parsed, cursor, ("string", "comment", "code"))
    if inside is not None and inside.name == "string":
        return "string"
    if inside is not None and inside.name == "comment":
        return "comment"
    bracket = enclosing(parsed, cursor, ("list", "block"))
    if bracket is not None and bracket.name == "list":
        return "list"
    if is_blank(rest) and opens(head):
        return "body"
    return "block" if is_blank(head) and is_blank(rest) else "line"


def enclosing(parsed: Parsed, cursor: int, names: tuple[str, ...]) -> Node | None:
    """Return the innermost node of these captures that has the cursor inside."""
    found = None
    for node in parsed.captures("spans", cursor, cursor):
        if node.name in names and _holds(parsed, node, cursor):
            found = node
    return found


def _holds(parsed: Parsed, node: Node, cursor: int) -> bool:
    if node.name == "comment":
        # A comment up to its line's end goes on when something is typed there.
        to_line_end = line_end(parsed.text, node.start) == node.end
        closed = parsed.text.endswith(("*/", "-->", "]]", "=end"), node.start, node.end)
        open_end = to_line_end and not closed and cursor == node.end
        return node.start < cursor < node.end or (open_end and node.start < cursor)
    if node.name == "block" and not parsed.text.startswith("{", node.start):
        return node.start <= cursor <= node.end
    return node.start < cursor < node.end


def expected_indent(parsed: Parsed, cursor: int) -> str:
    """Return the indentation that the first statement on a blank line should have."""
    text = parsed.text
    typed = lead(text[line_start(text, cursor) : cursor])
    above, below = line_above(text, cursor), line_below(text, cursor)
    if typed:
        return typed
    if opens(above):
        inner = lead(above) + step(parsed)
        near = width(above) < width(below) <= width(inner)
        return lead(below) if near else inner
    return lead(above)


def step(parsed: Parsed) -> str:
    """Return one step of the file's indentation, or the language's if it shows none."""
    previous, tabs = 0, False
    for line in parsed.text[:20000].split("\n"):
        if is_blank(line) or line.lstrip().startswith("*"):
            # An editor indents an empty line as the file would go on.
            tabs = tabs or (line.startswith("\t") and is_blank(line))
            continue
        if line.startswith("\t"):
            return "\t"
        columns = width(line)
        if columns - previous in (2, 3, 4, 8):
            return " " * (columns - previous)
        previous = columns
    if tabs:
        return "\t"
    return parsed.language.indent if parsed.language else "    "


def opens(line: str) -> bool:
    """Tell whether a block starts at the end of a line."""
    is_note = line.lstrip().startswith(("#", "//", "/*", "*", "--"))
    return not is_note and line.rstrip().endswith(_OPENERS)
