"""Positions of the protocol to code-point offsets and back; nobody else converts.

A line ends at CR LF, LF or CR and at nothing else, whatever ``str.splitlines`` thinks.
Columns count units of the encoding agreed with the client. Positions beyond the end of
a line or of the document are clamped, as the protocol asks.
"""

import re
from bisect import bisect_right
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}
_LINE_END = re.compile("\r\n|\r|\n")


class Place(NamedTuple):
    """A line and a column in code points, both from 0."""

    line: int
    column: int


class Lines:
    """Where each line of one text starts, kept right under edits.

    An edit costs the lines it touches: the starts behind it are not rewritten but carry
    one pending shift, which moves with the place that is edited.
    """

    def __init__(self, text: str) -> None:
        """Find the lines of ``text``."""
        self._starts = [0, *_starts(text)]
        self._shifted_from = len(self._starts)
        self._shift = 0

    def __len__(self) -> int:
        """Return the number of lines; a text that ends with a line end has one more."""
        return len(self._starts)

    def start(self, line: int) -> int:
        """Return the offset at which ``line`` starts."""
        shift = self._shift if line >= self._shifted_from else 0
        return self._starts[line] + shift

    def line_at(self, offset: int) -> int:
        """Return the line that holds ``offset``."""
        pivot, starts = self._shifted_from, self._starts
        if pivot < len(starts) and offset >= starts[pivot] + self._shift:
            return bisect_right(starts, offset - self._shift, pivot) - 1
        return bisect_right(starts, offset, 0, pivot) - 1

    def end(self, line: int, text: str) -> int:
        """Return the offset at which ``line`` ends, its line end left out."""
        if line + 1 >= len(self):
            return len(text)
        stop = self.start(line + 1)
        return stop - (2 if text[stop - 2 : stop] == "\r\n" else 1)

    def replaced(self, start: int, end: int, old: str, new: str) -> None:
        """Take over that ``old`` became ``new`` by a change of ``old[start:end]``.

        One character more on the left is looked at again, because a CR LF may have been
        joined or split there.
        """
        first = self.line_at(max(start - 1, 0))
        last = self.line_at(end)
        area_start = self.start(first)
        area_end = self.start(last + 1) if last + 1 < len(self) else len(old)
        grown = len(new) - len(old)
        self._move_shift(last + 1)
        area = new[area_start : area_end + grown]
        found = [area_start + each for each in _starts(area)]
        if last + 1 < len(self._starts) and found:
            found.pop()  # The line end that closes the area starts a line we have.
        self._starts[first + 1 : last + 1] = found
        self._shifted_from = first + 1 + len(found)
        self._shift += grown

    def _move_shift(self, line: int) -> None:
        for each in range(self._shifted_from, line):
            self._starts[each] += self._shift
        for each in range(line, self._shifted_from):
            self._starts[each] -= self._shift
        self._shifted_from = line


def to_offset(
    text: str, lines: Lines, line: int, character: int, encoding: Encoding
) -> int:
    """Return the offset of a protocol position, clamped to the text."""
    if line >= len(lines):
        return len(text)
    start = lines.start(line)
    return start + to_column(text[start : lines.end(line, text)], character, encoding)


def to_place(text: str, lines: Lines, offset: int) -> Place:
    """Return the line and the code-point column of ``offset``."""
    offset = min(max(offset, 0), len(text))
    line = lines.line_at(offset)
    start = lines.start(line)
    # Between CR and LF is the end of the line: the protocol has no name for it.
    return Place(line, min(offset, lines.end(line, text)) - start)


def to_column(line: str, units: int, encoding: Encoding) -> int:
    """Return the code points that ``units`` of the encoding cover in ``line``.

    A column inside a character counts as the one in front of it.
    """
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    codec, width = _CODECS[encoding]
    head = line.encode(codec, "surrogatepass")[: units * width]
    return (
        len(head.decode(codec, "ignore")) if _whole(line) else _slow(line, units, codec)
    )


def to_units(text: str, encoding: Encoding) -> int:
    """Return the length of ``text`` in units of the encoding."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    codec, width = _CODECS[encoding]
    return len(text.encode(codec, "surrogatepass")) // width


def _starts(text: str) -> list[int]:
    if "\r" in text:
        return [each.end() for each in _LINE_END.finditer(text)]
    starts, at = [], text.find("\n") + 1
    while at:
        starts.append(at)
        at = text.find("\n", at) + 1
    return starts


def _whole(line: str) -> bool:
    """Whether ``line`` has no half of a surrogate pair, which no codec gives back."""
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _slow(line: str, units: int, codec: str) -> int:
    width = 2 if codec == "utf-16-le" else 1
    left = units * width
    for column, character in enumerate(line):
        left -= len(character.encode(codec, "surrogatepass"))
        if left < 0:
            return column
    return len(line)
