"""Guessing the next tokens without the model: what followed the same tokens before.

Code repeats its context, so the tokens after the last earlier place where the text ran
alike are a free draft (prompt look-up, github.com/apoorvumang/prompt-lookup-decoding).
"""

from collections.abc import Sequence
from typing import Protocol

_LONGEST = 4  # tokens of the ending that are looked for first


class Drafter(Protocol):
    """Guesses how a text goes on."""

    def draft(self, token_ids: Sequence[int], n_most: int) -> list[int]:
        """Return up to ``n_most`` likely next tokens, none if there is no lead."""
        ...


class LookUp:
    """Drafts by the longest ending that occurred before; the latest place wins."""

    def __init__(self) -> None:
        """Start with nothing indexed."""
        self._places: dict[tuple[int, ...], tuple[int, int]] = {}
        self._n_indexed = 0

    def draft(self, token_ids: Sequence[int], n_most: int) -> list[int]:
        """Return the tokens after the latest earlier occurrence of the ending."""
        self._index(token_ids)
        n_tokens = len(token_ids)
        for length in range(min(_LONGEST, n_tokens - 1), 1, -1):
            latest, before = self._places.get(tuple(token_ids[-length:]), (0, 0))
            place = before if latest == n_tokens else latest
            if place:
                # The longer the ending that ran alike, the further it is trusted.
                n_trusted = min(n_most, 2 ** (length - 1))
                return list(token_ids[place : place + n_trusted])
        return []

    def _index(self, token_ids: Sequence[int]) -> None:
        """Note where each short run of new tokens ends."""
        for stop in range(self._n_indexed + 1, len(token_ids) + 1):
            for length in range(2, _LONGEST + 1):
                if length <= stop:
                    run = tuple(token_ids[stop - length : stop])
                    latest = self._places.get(run, (0, 0))[0]
                    self._places[run] = (stop, latest)
        self._n_indexed = len(token_ids)
