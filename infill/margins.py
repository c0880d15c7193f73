"""The rules of indentation that judge a text for a span, each a pure function."""

import re
from itertools import pairwise
from typing import NamedTuple

from niello.grammars.catalogue import Language

from .lexis import tokens, unclosed
from .lines import is_blank, lead, width
from .span import opens

# What a line starts with that is part of the statement above.
_GOES_ON = re.compile(r"\??\.\w|->|::\w|(?:&&|\|\||[+?:])\s")


class Neighbours(NamedTuple):
    """The lines with text around a span, and the indentation that goes between."""

    above: str
    below: str
    expected: str


def set_margin(
    written: str,
    given: str,
    around: Neighbours,
    language: Language | None,
    in_definition: bool,
) -> str:
    """Set the first line of a text on a line of its own to the margin of its place."""
    first = written.lstrip()
    if language is None or language.layout == "flow":
        return written
    if first.startswith(("#", "- ", ")", "]", "}", *language.continues)):
        return written
    if language.layout == "brace" and _GOES_ON.match(first):
        return written  # It is part of the statement above.
    above, below, expected = around
    outside = not in_definition or "namespace" in above.split()
    if language.layout == "brace" and outside:
        # In a namespace or a module the margin is a matter of taste.
        return written
    closes = below.lstrip().startswith((")", "]", "}", *language.continues))
    if language.layout == "indent" and leads_to(written, below, language):
        low = 0  # A dedent may be meant.
    elif opens(above):
        low = width(above) + 1
    else:
        low = width(above) if closes else min(width(above), width(below))
    # Many a block that a word closes has no sign at its opener's end.
    deeper = opens(above) or language.layout == "word"
    high = 10_000 if deeper else max(width(expected), width(below))
    return set_first_line(written, given, expected, low, high)


def set_first_line(written: str, given: str, expected: str, low: int, high: int) -> str:
    """Set the indentation of the first line on a blank line right.

    ``expected`` is what it should be, ``low`` to ``high`` are the columns in order.
    """
    if not is_blank(given) or "\n" in written[: len(written) - len(written.lstrip())]:
        return written
    first = lead(written)
    if given:
        if not first or width(given + first) == width(expected):
            return written
        rest = written[len(first) :]
        # A model that is a column off is so on every line.
        return shift(rest, given + first, given) if width(first) % 2 else rest
    if low <= width(first) <= high:
        return written
    others = [width(line) for line in written.split("\n")[1:] if not is_blank(line)]
    if width(first) < width(expected) and others and min(others) >= width(expected):
        return expected + written[len(first) :]
    return shift(written, first, expected)


def leads_to(written: str, below: str, language: Language | None) -> bool:
    """Tell whether the line below may follow, as blocks by indentation go."""
    lines = [line for line in written.split("\n") if not is_blank(line)]
    if unclosed(written, language) or not lines or not below:
        return bool(below)
    margins = [width(line) for line in lines]
    margins = [margin for margin in margins if margin <= width(below)]
    if width(lines[-1]) < width(below):
        return opens(lines[-1])
    return not margins or margins[-1] == width(below)


def shift(written: str, old: str, new: str) -> str:
    """Move lines that start with the indentation ``old`` to ``new``."""
    return "\n".join(
        new + line[len(old) :] if line.startswith(old) and not is_blank(line) else line
        for line in written.split("\n")
    )


def set_indent_style(written: str, step: str, document: str) -> str:
    """Write the indentation of later lines as the file does, in tabs or in spaces."""
    if step == "\t" and not re.search(r"^\t+ {2,}[^ *]", document, re.MULTILINE):
        written = _without_spaces(written)
    head, *lines = written.split("\n")
    indented = [line for line in lines if lead(line) and not is_blank(line)]
    tabs = step == "\t"
    foreign = " " if tabs else "\t"
    if not indented or any(not lead(line).startswith(foreign) for line in indented):
        return written
    own_style = r"^\t" if tabs else r"^ {2,}[^ *]"
    other_style = r"^ {2,}[^ *]" if tabs else r"^\t"
    if re.search(other_style, document, re.MULTILINE):
        return written  # The file has both.
    if not re.search(own_style, document, re.MULTILINE):
        return written  # The file has neither.
    own = _step_of([width(line) for line in indented]) if tabs else 8
    return "\n".join([head, *(_restyle(line, own, step) for line in lines)])


def _without_spaces(written: str) -> str:
    """Write tabs for the steps in spaces that a text puts behind the tabs of blocks.

    Behind those of what goes on in a statement, spaces are a style.
    """
    mixed = re.compile(r"^(\t+)( {2,})(?=[^ *\n])", re.MULTILINE)
    found = list(mixed.finditer(written))
    head = written[: found[0].start()] if found else ""
    if not opens(head.rstrip("\n").rpartition("\n")[2]):
        return written
    columns = _step_of([len(match[2]) for match in found])

    def restyled(match: re.Match[str]) -> str:
        steps, left = divmod(len(match[2]), columns)
        return match[1] + "\t" * steps + " " * left

    return mixed.sub(restyled, written)


def keep_strings(styled: str, written: str, language: Language | None) -> str:
    """Return a restyled text with the later lines of its strings as they were.

    Where blocks are told by indentation, a string's lines go with their block.
    """
    if styled == written or language is None or language.layout == "indent":
        return styled
    lines, own = styled.split("\n"), written.split("\n")
    for token in tokens(written, language):
        if token.kind == "string" and "\n" in token.text:
            first = written.count("\n", 0, token.start) + 1
            last = first + token.text.count("\n")
            lines[first:last] = own[first:last]
    return "\n".join(lines)


def _restyle(line: str, columns: int, step: str) -> str:
    if is_blank(line):
        return line
    steps, left = divmod(width(line), columns)
    return step * steps + " " * left + line[len(lead(line)) :]


def _step_of(widths: list[int]) -> int:
    for columns in (4, 2, 3, 8):
        if all(value % columns == 0 for value in widths):
            return columns
    return 4


def set_step(written: str, given: str, document: str) -> str:
    """Indent the blocks of a text by the step that all blocks of the document have."""
    lines = (given + written).split("\n")
    if any("\t" in lead(line) for line in lines):
        return written
    steps = _block_steps(document)
    nested = _block_steps("\n".join(lines))
    if len(steps) < 2 or len(set(steps)) > 1 or not nested or steps[0] in nested:
        return written
    step = steps[0]
    margins = [width(line) for line in lines[1:] if not is_blank(line)]
    first, base = margins[0], width(lines[0])
    # A model counts its steps from the margin of the file, or from that of the block.
    own = _common_step(margins)
    own = own if own not in (0, step) else _common_step([m - base for m in margins])
    if own in (0, step) or first <= base or min(margins) < first - own:
        return written
    moved = [
        " " * (base + (width(line) - first + own) // own * step) + line.lstrip(" ")
        if not is_blank(line)
        else line
        for line in lines[1:]
    ]
    return "\n".join([lines[0], *moved])[len(given) :]


def _common_step(columns: list[int]) -> int:
    return next((n for n in (8, 4, 2) if not any(each % n for each in columns)), 0)


def _block_steps(text: str) -> list[int]:
    """Return by how many columns the lines after the openers of blocks are indented."""
    lines = [line for line in text.split("\n") if not is_blank(line)]
    return [
        width(below) - width(above)
        for above, below in pairwise(lines)
        if above.rstrip().endswith((":", "{")) and width(below) > width(above) + 1
    ]
