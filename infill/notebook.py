"""The cells of one notebook as one text, so that a cell sees those around it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from niello.grammars.catalogue import find_language

from .lines import line_break, to_line_feeds

_JOINT = "\n\n"


class Cell(NamedTuple):
    """One cell: its text and the language it is written in."""

    text: str
    language: str


class Joined(NamedTuple):
    """A notebook's text; one cell's text stands in it unchanged at ``[start, end)``."""

    text: str
    start: int
    end: int


def join_cells(cells: Sequence[Cell], index: int) -> Joined:
    """Join a notebook's cells around one of them; other languages become comments.

    An offset in the cell is that offset plus ``start`` in the text, and a candidate's
    span minus ``start`` is one in the cell.
    """
    language = cells[index].language
    before = [_beside(cell, language) for cell in cells[:index]]
    after = [_beside(cell, language) for cell in cells[index + 1 :]]
    joint = _JOINT.replace("\n", line_break(cells[index].text, 0))
    head = joint.join([*before, ""])
    own = cells[index].text
    text = head + own + joint.join(["", *after])
    return Joined(text, len(head), len(head) + len(own))


def _beside(cell: Cell, language: str) -> str:
    text = to_line_feeds(cell.text).rstrip("\n")
    if cell.language == language:
        # A cell's magic lines are no code of its language.
        return re.sub(r"(?m)^(?=[%!])", _marker(language), text)
    marker = _marker(language)
    return "\n".join(f"{marker}{line}".rstrip() for line in text.split("\n"))


def _marker(language: str) -> str:
    known = find_language(language)
    markers = known.line_comments if known else ()
    plain = [marker for marker in markers if not re.search(r"[\\(\[]", marker)]
    return f"{plain[0]} " if plain else "# "
