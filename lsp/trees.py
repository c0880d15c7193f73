"""The last syntax tree of each document, so that a parse costs what was typed."""

from collections import OrderedDict

from niello.infill.parse import Parsed, parse
from niello.infill.snapshot import Snapshot

from .documents import spelling

_KEPT = 8


class Trees:
    """Trees of the documents worked on last; used on the engine's thread alone."""

    def __init__(self) -> None:
        """Begin with none."""
        self._kept: OrderedDict[str, Parsed] = OrderedDict()

    def parse(self, snapshot: Snapshot) -> Parsed:
        """Return the snapshot's text as a tree."""
        key = spelling(snapshot.uri)
        parsed = parse(snapshot.text, snapshot.language, self._kept.get(key))
        self._kept[key] = parsed
        self._kept.move_to_end(key)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return parsed
