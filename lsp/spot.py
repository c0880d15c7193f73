"""Where a request asks, and texts for that place in the shape that editors show.

A range lies in the cursor's line and reaches to its end; the text holds what is kept of
that line and may go on over further lines. Clients show no other shape well.
"""

from typing import NamedTuple

from lsprotocol import types as lsp_types

from niello.infill.snapshot import Snapshot

from .convert import Encoding, to_units
from .documents import Document
from .offers import Insert


class Spot(NamedTuple):
    """A cursor in a snapshot, with what an answer needs to know of its line."""

    snapshot: Snapshot
    cursor: int
    line_start: int
    line_end: int
    first: int  # where the answer's range begins; in front of text from a menu's entry
    range: lsp_types.Range  # from ``first`` to the line's end, in the client's units


def find_spot(
    document: Document,
    position: lsp_types.Position,
    encoding: Encoding,
    chosen: lsp_types.SelectedCompletionInfo | None = None,
) -> Spot:
    """Return the spot of ``position``, as if the menu's ``chosen`` entry were typed."""
    text, lines, snapshot = document.text, document.lines, document.snapshot()
    cursor = document.offset(position, encoding)
    line = lines.line_at(cursor)
    start, end = lines.start(line), lines.end(line, text)
    cursor = first = min(cursor, end)
    line_end = end
    if chosen is not None:
        left = document.offset(chosen.range.start, encoding)
        right = document.offset(chosen.range.end, encoding)
        if start <= left <= cursor <= right <= end:
            changed = text[:left] + chosen.text + text[right:]
            snapshot = snapshot._replace(text=changed)
            first, cursor = left, left + len(chosen.text)
            line_end = end + len(changed) - len(text)
    shown = lsp_types.Range(
        lsp_types.Position(line, to_units(text[start:first], encoding)),
        lsp_types.Position(line, to_units(text[start:end], encoding)),
    )
    return Spot(snapshot, cursor, start, line_end, first, shown)


def line_text(spot: Spot, insert: Insert) -> str | None:
    """Return the text for the spot's range, or None if one line cannot do it."""
    text = spot.snapshot.text
    typed = text[spot.first : spot.cursor]
    behind = spot.cursor + insert.replaced
    if behind <= spot.line_end:
        return typed + insert.text + text[behind : spot.line_end]
    # It replaces later lines too, which fits only if it ends as those do.
    later = text[spot.line_end : behind]
    if not insert.text.endswith(later):
        return None
    return typed + insert.text[: -len(later)]
