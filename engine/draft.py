"""Guesses at the next tokens, and guessing without the model: what followed before.

Code repeats its context, so the tokens after the last earlier place where the text ran
alike are a free draft (prompt look-up, github.com/apoorvumang/prompt-lookup-decoding).
"""

from collections.abc import Sequence
from typing import NamedTuple

_LONGEST = 4  # tokens of the ending that are looked for first
_SHORTEST = 2
N_SURENESS = 10  # kinds of guesses that come with a probability
N_KINDS = N_SURENESS + _LONGEST - _SHORTEST + 1


class Draft(NamedTuple):
    """Tokens that may come next.

    Guesses of one kind, a number below `N_KINDS`, are right about equally often.
    """

    token_ids: list[int]
    kinds: list[int]

    def first(self, n_most: int) -> "Draft":
        """Return the first ``n_most`` guesses."""
        return Draft(self.token_ids[: max(0, n_most)], self.kinds[: max(0, n_most)])

    def then(self, more: "Draft") -> "Draft":
        """Return these guesses and more after them."""
        return Draft(self.token_ids + more.token_ids, self.kinds + more.kinds)


NOTHING = Draft([], [])


def guessed(token_ids: list[int], probabilities: Sequence[float]) -> Draft:
    """Return a draft of tokens with the probabilities that their guesser gave them."""
    kinds = [min(N_SURENESS - 1, int(N_SURENESS * p)) for p in probabilities]
    return Draft(token_ids, kinds)


class LookUp:
    """Drafts by the longest ending that occurred before; the latest place wins."""

    def __init__(self) -> None:
        """Start with nothing indexed."""
        self._places: dict[tuple[int, ...], tuple[int, int]] = {}
        self._n_indexed = 0

    def draft(
        self, token_ids: Sequence[int], n_most: int, ahead: Sequence[int] = ()
    ) -> Draft:
        """Return the tokens after the latest earlier occurrence of the ending.

        The ending is that of the tokens with what is guessed ``ahead``. How much of it
        was found is what kind of guesses they are.
        """
        self._index(token_ids)
        n_tokens = len(token_ids)
        ending = (*token_ids[-_LONGEST:], *ahead)
        for length in range(min(_LONGEST, n_tokens - 1), _SHORTEST - 1, -1):
            latest, before = self._places.get(ending[-length:], (0, 0))
            place = before if latest == n_tokens else latest
            if place:
                # The longer the ending that ran alike, the further it is trusted.
                n_trusted = min(n_most, 2 ** (length - 1))
                found = list(token_ids[place : place + n_trusted])
                return Draft(found, [N_SURENESS + length - _SHORTEST] * len(found))
        return NOTHING

    def _index(self, token_ids: Sequence[int]) -> None:
        """Note where each short run of new tokens ends."""
        for stop in range(self._n_indexed + 1, len(token_ids) + 1):
            for length in range(_SHORTEST, _LONGEST + 1):
                if length <= stop:
                    run = tuple(token_ids[stop - length : stop])
                    latest = self._places.get(run, (0, 0))[0]
                    self._places[run] = (stop, latest)
        self._n_indexed = len(token_ids)
