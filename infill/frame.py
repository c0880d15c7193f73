"""The brackets around a span, and which of them a fill has to close itself.

Read off the tree where it is whole, and off the lines nearby where the code is broken:
an ERROR node says little about which bracket belongs to what, indentation says much.
"""

from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from .lexis import PAIRS, Bracket, unclosed, unopened
from .lines import is_blank, line_above, line_end, line_start, width
from .parse import Parsed
from .span import opens

_MOST_LINES = 60
_MOST_TEXT = 6000  # code points
_MOST_CHILDREN = 400
# What opens code inside a string or a command, and the bracket that it opens with.
_CODE = {"$(": "(", "<(": "(", ">(": "(", "\\(": "(", "${": "{", "#{": "{"}


class Frame(NamedTuple):
    """A bracket opened before a span and open there."""

    closer: str
    given: bool  # the text after the span closes it
    flows: bool  # a line end inside ends nothing: it is a list, not a block


def find_frames(parsed: Parsed, start: int, end: int) -> list[Frame]:
    """Return the brackets open around ``[start, end)``, the innermost last."""
    frames = _of_tree if _is_whole(parsed, start, end) else _nearby
    return frames(parsed, start, end)


def _is_whole(parsed: Parsed, start: int, end: int) -> bool:
    """Tell whether the tree can be trusted around a span."""
    path = parsed.ancestors(start, end)
    if not path or path[-1].is_error or any(node.has_error for node in path[:-1]):
        return False
    # An ERROR beside the span may be the half of a construct that the span is in.
    text = parsed.text
    top = line_start(text, len(text[:start].rstrip()))
    bottom = line_end(text, len(text) - len(text[end:].lstrip()))
    return not any(node.end >= top and node.start <= bottom for node in parsed.broken)


def _of_tree(parsed: Parsed, start: int, end: int) -> list[Frame]:
    first, last = parsed.to_byte(start), parsed.to_byte(end)
    lists = {
        parsed.to_byte(node.start)
        for node in parsed.captures("spans", start, end)
        if node.name == "list"
    }
    frames: list[Frame] = []
    for node in parsed.ancestors(start, end):
        before: list[str] = []
        closed = False
        for child in _few(node):
            opener = _CODE.get(child.type, child.type)
            if opener in PAIRS and child.end_byte <= first:
                before.append(opener)
            elif child.type in PAIRS.values() and child.end_byte <= first:
                before = before[:-1]
            elif child.type in PAIRS.values() and child.start_byte >= last:
                closed = closed or not child.is_missing
        for opener in reversed(before):
            flows = opener != "{" or node.start_byte in lists
            frames.append(Frame(PAIRS[opener], closed, flows))
    return frames[::-1]


def _few(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return a node's children, of a very long list only the first and the last."""
    if node.child_count <= _MOST_CHILDREN:
        return node.children
    ends = (node.child(0), node.child(node.child_count - 1))
    return [child for child in ends if child is not None]


def _nearby(parsed: Parsed, start: int, end: int) -> list[Frame]:
    language = parsed.language
    head, tail = _window(parsed.text, start, end)
    closers = unopened(tail, language)
    frames: list[Frame] = []
    lines = list(_by_line(head, unclosed(head, language)))
    for nth, (margin, brackets) in enumerate(lines):
        reach = _reach(tail, margin, {outer for outer, _ in lines[nth + 1 :]})
        inside = [token.text for token in closers if token.start < reach]
        n_given = _n_given(brackets, inside)
        closers = closers[n_given:]
        if reach >= _MOST_TEXT or tail.count("\n", 0, reach) >= _MOST_LINES:
            n_given = len(brackets)  # What is not seen is taken to be there.
        for depth, bracket in reversed(list(enumerate(brackets))):
            before = head[: bracket.offset].rstrip()
            literal = before.endswith(("=", "(", ",", ":", "[", "return", "&", "?"))
            indented = language is None or language.layout == "indent"
            flows = bracket.closer != "}" or literal or indented
            frames.append(Frame(bracket.closer, depth < n_given, flows))
    return frames[::-1]


def _by_line(head: str, stack: list[Bracket]) -> Iterator[tuple[int, list[Bracket]]]:
    """Yield the open brackets of each line with its margin, the nearest line first."""
    lines: dict[int, list[Bracket]] = {}
    for bracket in stack:
        lines.setdefault(line_start(head, bracket.offset), []).append(bracket)
    for start, brackets in reversed(lines.items()):
        yield width(head[start : line_end(head, start)]), brackets


def _reach(tail: str, margin: int, outer: set[int]) -> int:
    """Return how far a construct can go whose opener's line has this margin.

    A line that closes has the same margin, or a smaller one if the construct began
    further up, but then not that of a construct around it.
    """
    end = line_end(tail, 0)
    while end < len(tail):
        below = end + (2 if tail.startswith("\r\n", end) else 1)
        finish = line_end(tail, below)
        line = tail[below:finish]
        if line.strip() and width(line) <= margin:
            closes = line.lstrip().startswith((")", "]", "}", "</"))
            own = width(line) == margin or width(line) not in outer
            return finish if closes and own else end
        end = finish
    return end


def _n_given(brackets: list[Bracket], closers: list[str]) -> int:
    """Return how many of the outer brackets of a line the closers are for.

    The fill closes the inner ones, and what follows comes after the fill.
    """
    for n_given in range(min(len(brackets), len(closers)), 0, -1):
        outer = [bracket.closer for bracket in reversed(brackets[:n_given])]
        if outer == closers[:n_given]:
            return n_given
    return 0


def _window(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the text of the construct before and after, told by indentation.

    It starts on the nearest line above that is indented less, or at the start of the
    paragraph if none can be, and goes on to the last line indented more than that.
    """
    top = line_start(text, start)
    own = text[top : line_end(text, start)]
    base = width(own)
    if start == top and is_blank(own):
        near = line_above(text, start)
        base = width(near) + opens(near)
    outer = base
    for _ in range(_MOST_LINES):
        above = line_start(text, max(0, top - 1))
        line = text[above : line_end(text, above)]
        if top == 0 or (base == 0 and not line.strip()):
            break
        top = above
        if line.strip() and width(line) < base:
            outer = width(line)
            break
    bottom = line_end(text, end)
    for _ in range(_MOST_LINES):
        below = bottom + (2 if text.startswith("\r\n", bottom) else 1)
        line = text[below : line_end(text, below)] if below <= len(text) else ""
        if bottom >= len(text) or (base == 0 and not line.strip()):
            break
        closes = line.lstrip().startswith((")", "]", "}", "</"))
        if line.strip() and width(line) <= outer and not closes:
            break
        bottom = below + len(line)
    return text[max(top, start - _MOST_TEXT) : start], text[end:bottom][:_MOST_TEXT]
