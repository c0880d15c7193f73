"""Lines and their indentation, for any text.

A line ends with CR LF, LF or CR and with nothing else: a form feed or a line separator
inside a line is text, as the protocol of editors has it.
"""

import re
from collections.abc import Iterator
from typing import AnyStr

TAB = 8  # columns of a tab when indentations are compared
_SIGN = re.compile(r"\S")
_LEAD = re.compile(r"[ \t\f]*")


def line_start(text: str, offset: int) -> int:
    """Return where the line of ``offset`` starts."""
    feed = text.rfind("\n", 0, offset)
    return max(feed, text.rfind("\r", feed + 1, offset)) + 1


def line_end(text: str, offset: int) -> int:
    """Return where the line of ``offset`` ends, its line break left out."""
    feed = text.find("\n", offset)
    feed = len(text) if feed < 0 else feed
    back = text.find("\r", offset, feed)
    return feed if back < 0 else back


def lines_before(text: str, offset: int) -> Iterator[str]:
    """Yield the lines above the line of ``offset``, the nearest first."""
    start = line_start(text, offset)
    while start > 0:
        end = start - (2 if text.endswith("\r\n", 0, start) else 1)
        start = line_start(text, end)
        yield text[start:end]


def lines_after(text: str, offset: int) -> Iterator[str]:
    """Yield the lines below the line of ``offset``, the nearest first."""
    end = line_end(text, offset)
    while end < len(text):
        start = end + (2 if text.startswith("\r\n", end) else 1)
        end = line_end(text, start)
        yield text[start:end]


def line_above(text: str, offset: int) -> str:
    """Return the nearest line above that is not blank, or nothing."""
    end = len(text[: line_start(text, offset)].rstrip())
    return text[line_start(text, end) : line_end(text, end)] if end else ""


def line_below(text: str, offset: int) -> str:
    """Return the nearest line below that is not blank, or nothing."""
    sign = _SIGN.search(text, line_end(text, offset))
    if sign is None:
        return ""
    return text[line_start(text, sign.start()) : line_end(text, sign.start())]


def lead(line: str) -> str:
    """Return the white space a line starts with."""
    match = _LEAD.match(line)
    return match[0] if match else ""


def width(line: str) -> int:
    """Return how many columns a line is indented."""
    return len(lead(line).replace("\f", "").expandtabs(TAB))


def is_blank(line: str) -> bool:
    """Tell whether a line holds white space only."""
    return not line.strip()


def weight(text: str) -> int:
    """Return how many letters and digits a text has, which tell it from chance."""
    return sum(map(str.isalnum, text))


def line_break(text: str, offset: int) -> str:
    """Return the line break used nearest to ``offset``: the one before, else after."""
    start = line_start(text, offset)
    if start == 0:
        end = line_end(text, offset)
        return "\r\n" if text.startswith("\r\n", end) else text[end : end + 1] or "\n"
    return "\r\n" if text.endswith("\r\n", 0, start) else text[start - 1]


def to_line_feeds(text: str) -> str:
    """Return the text with LF at every line end, as models read and write it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def common_head(one: AnyStr, other: AnyStr, most: int) -> int:
    """Return the length of the common head, by halves: comparing slices is fast."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_tail(one: AnyStr, other: AnyStr, most: int) -> int:
    """Return the length of the common tail, at most ``most``."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        ends = len(one) - low, len(other) - low
        if one[-middle : ends[0]] == other[-middle : ends[1]]:
            low = middle
        else:
            high = middle - 1
    return low
