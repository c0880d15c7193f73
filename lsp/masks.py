"""What each in-place edit masks: the places of a document, and what is given there.

Everything outside of a mask stays. A mask's lead and tail enter the file with its fill:
the quotes of a docstring, the colon of an annotation.
"""

import re
from typing import NamedTuple

from niello.infill.lines import (
    is_blank,
    lead,
    line_break,
    line_end,
    line_start,
    to_line_feeds,
)
from niello.infill.parse import Node, Parsed
from niello.infill.select import find_broken, find_selection
from niello.infill.span import enclosing, step

_MARKER = re.compile(r"⟦(?P<hint>[^⟦⟧\n]*)⟧")
_COMMENT_MARKER = re.compile(r"\s*(?:\.\.\.|…|TODO: fill\b[:\s]*(?P<hint>.*?))\s*\Z")
# Languages whose documentation stands in line comments, and their mark.
_DOC_LINES = {"go": "//", "rust": "///", "csharp": "///", "swift": "///"}


class Mask(NamedTuple):
    """A place ``[start, end)`` to fill anew; empty to put something in."""

    start: int
    end: int
    lead: str = ""  # stands in front of the fill
    tail: str = ""  # stands behind it
    ends: str = ""  # characters that end the fill outside of its own brackets
    hint: str = ""  # an instruction the model sees as a comment; it enters no file
    whole: bool = False  # replaced as nodes of the tree, not as if typed there


def cursor_mask(parsed: Parsed, start: int, end: int) -> list[Mask]:
    """Fill here: what would be offered at the cursor."""
    return [Mask(start, start)] if start == end else []


def selection_mask(parsed: Parsed, start: int, end: int) -> list[Mask]:
    """Rewrite: the statements or nodes that cover the selection."""
    if is_blank(
        parsed.text[line_start(parsed.text, start) : line_end(parsed.text, end)]
    ):
        return []
    span = find_selection(parsed, start, end)
    return [Mask(span.start, span.end, whole=True)] if span.start < span.end else []


def block_mask(parsed: Parsed, start: int, end: int) -> list[Mask]:
    """Complete this block: more statements behind those it has."""
    text = parsed.text
    block = enclosing(parsed, start, ("block",))
    if block is None:
        return []
    inside = _inside(parsed, block)
    written = text[inside.start : inside.end].rstrip()
    at = inside.start + len(written)
    if not written:
        return [_lines(parsed, inside, block)]
    last = text[line_start(text, at) : at]
    return [Mask(at, at, line_break(text, at) + lead(last))]


def body_mask(parsed: Parsed, start: int, end: int) -> list[Mask]:
    """Fill a function's body from its signature and docstring."""
    function = enclosing_function(parsed, start)
    block = None if function is None else _body(parsed, function)
    if block is None:
        return []
    inside = _inside(parsed, block)
    described = _docstring(parsed, inside)
    return [_lines(parsed, inside._replace(start=described or inside.start), block)]


def docstring_mask(parsed: Parsed, start: int, end: int) -> list[Mask]:
    """Write the description of a function that has none."""
    function, language = enclosing_function(parsed, start), parsed.language
    block = None if function is None else _body(parsed, function)
    if function is None or block is None or language is None:
        return []
    text = parsed.text
    if language.layout == "indent":
        inside = _inside(parsed, block)
        if _docstring(parsed, inside):
            return []
        at = (
            inside.start
            + len(text[inside.start : inside.end])
            - len(text[inside.start : inside.end].lstrip())
        )
        line = line_break(text, at) + lead(text[line_start(text, at) : at])
        return [Mask(at, at, '"""', f'"""{line}')]
    at = line_start(text, function.start)
    indent = lead(text[at : function.start])
    above = text[:at].rstrip()
    if above and enclosing(parsed, len(above), ("comment",)) is not None:
        return []
    line = line_break(text, at) + indent
    mark = _DOC_LINES.get(language.name)
    if mark is None and language.block_comment:
        tail = f"{line} */{line_break(text, at)}"
        return [Mask(at, at, f"{indent}/**{line} * ", tail)]
    mark = mark or language.line_comments[0]
    return [Mask(at, at, f"{indent}{mark} ", line_break(text, at))]


def annotation_masks(parsed: Parsed, start: int, end: int) -> list[Mask]:
    """Add type annotations: only the places where one may stand are masked."""
    function = enclosing_function(parsed, start)
    if function is None or parsed.language is None:
        return []
    masks = []
    for node in parsed.captures("annotations", function.start, function.end):
        if not function.start <= node.start <= node.end <= function.end:
            continue
        if node.name == "parameter":
            masks.append(Mask(node.end, node.end, ": ", ends=",=)"))
        elif node.name == "return":
            arrow = " -> " if parsed.language.layout == "indent" else ": "
            masks.append(Mask(node.end, node.end, arrow, ends=":{;"))
    return masks


def broken_mask(parsed: Parsed, start: int, end: int) -> list[Mask]:
    """Fix a syntax error: what the parser calls broken on the cursor's lines."""
    text = parsed.text
    top, bottom = line_start(text, start), line_end(text, end)
    near = [
        span for span in find_broken(parsed) if span.start <= bottom and span.end >= top
    ]
    return [Mask(span.start, span.end) for span in near[:1]]


def marker_masks(parsed: Parsed, start: int, end: int) -> list[Mask]:
    """Fill every marker of the file: ``⟦⟧``, ``# ...`` and ``TODO: fill``."""
    text = parsed.text
    masks = [
        Mask(each.start(), each.end(), hint=each["hint"].strip())
        for each in _MARKER.finditer(text)
    ]
    for node in parsed.captures("spans", 0, len(text)):
        comment = text[node.start : node.end]
        if node.name != "comment" or "⟦" in comment:
            continue
        found = _COMMENT_MARKER.match(_comment_text(comment))
        if found is not None:
            masks.append(Mask(node.start, node.end, hint=found["hint"] or ""))
    return sorted(masks)


def enclosing_function(parsed: Parsed, offset: int) -> Node | None:
    """Return the innermost function that the line of ``offset`` belongs to."""
    text = parsed.text
    top, bottom = line_start(text, offset), line_end(text, offset)
    functions = [
        node
        for node in parsed.captures("spans", top, bottom)
        if node.name == "function" and node.start <= bottom and node.end >= offset
    ]
    return max(functions, key=lambda node: node.start, default=None)


def _body(parsed: Parsed, function: Node) -> Node | None:
    blocks = [
        node
        for node in parsed.captures("spans", function.start, function.end)
        if node.name == "block"
        and function.start < node.start
        and node.end <= function.end
    ]
    # The body is the block that ends with the function; nested ones end no later.
    return min(blocks, key=lambda node: (-node.end, node.start), default=None)


def _inside(parsed: Parsed, block: Node) -> Node:
    """Return what is between a block's brackets, or behind its opening line."""
    text = parsed.text
    if text.startswith("{", block.start):
        end = block.end - 1 if text.endswith("}", block.start, block.end) else block.end
        return Node(block.start + 1, max(end, block.start + 1), block.name)
    before = text[: block.start].rstrip()
    return Node(len(before), block.end, block.name)


def _lines(parsed: Parsed, inside: Node, block: Node) -> Mask:
    """Return the mask of whole lines inside a block."""
    text = parsed.text
    outer = lead(text[line_start(text, block.start) : block.start])
    if not text.startswith("{", block.start):
        header = text[: block.start].rstrip()
        outer = lead(text[line_start(text, len(header)) :])
    written = text[inside.start : inside.end]
    first = inside.start + len(written) - len(written.lstrip())
    indent = lead(text[line_start(text, first) : first])
    if is_blank(written) or len(indent) <= len(outer):
        indent = outer + step(parsed)
    line = line_break(text, inside.start)
    tail = line + outer if text.startswith("{", block.start) else ""
    return Mask(inside.start, inside.end, line + indent, tail)


def _docstring(parsed: Parsed, inside: Node) -> int | None:
    """Return where the docstring at the start of a Python body ends."""
    text = parsed.text
    written = text[inside.start : inside.end]
    first = inside.start + len(written) - len(written.lstrip())
    if parsed.language is None or parsed.language.layout != "indent":
        return None
    for node in parsed.captures("spans", first, first + 1):
        if node.name == "string" and node.start == first:
            return node.end
    return None


def _comment_text(comment: str) -> str:
    comment = to_line_feeds(comment)
    for opener, closer in (("/*", "*/"), ("<!--", "-->")):
        if comment.startswith(opener):
            return comment[len(opener) :].removesuffix(closer)
    return comment.lstrip("#/-;%")
