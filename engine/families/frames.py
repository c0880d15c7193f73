"""Shows a canvas pass by pass, as text with how sure each piece is."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from niello.engine.load import load_config
from niello.infill.canvas import Filler

from .decoding import Decoding
from .load import Place
from .open import open_family
from .run import Seen
from .table import find_family
from .tokens import FamilyTokens


class Piece(NamedTuple):
    """A token's text and probability, or a mask."""

    text: str
    probability: float
    masked: bool


class Frame(NamedTuple):
    """A canvas after one pass."""

    pieces: Sequence[Piece]
    forwards: int

    @property
    def n_decided(self) -> int:
        """How many places hold tokens."""
        return sum(not piece.masked for piece in self.pieces)


def open_shown(
    folder: Path,
    show: Callable[[Frame], None],
    decoding: Decoding | None = None,
    place: Place | None = None,
) -> Filler:
    """Return a filler that shows each pass over its canvas."""
    tokens = FamilyTokens(folder, find_family(load_config(folder), folder.name))

    def watch(seen: Seen) -> None:
        show(frame(seen, tokens))

    return open_family(folder, decoding, place, watch)


def frame(seen: Seen, tokens: FamilyTokens) -> Frame:
    """Return a state as pieces of text."""
    pieces = [
        Piece("" if masked else tokens.decode([token_id]), math.exp(score), masked)
        for token_id, masked, score in zip(
            seen.token_ids, seen.masked, seen.log_probabilities, strict=True
        )
    ]
    return Frame(pieces, seen.forwards)
