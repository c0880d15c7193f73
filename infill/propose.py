"""The sentence the project is about: a snapshot and a cursor become judged candidates."""

from typing import NamedTuple

from .canvas import Draws, Filler, StopFlag, never
from .snapshot import Snapshot
from .span import Span


class Options(NamedTuple):
    """What a caller may choose about proposing."""

    draws: Draws = Draws()
    room: int = 256  # most tokens to fill
    prefix_tokens: int = 1024  # budget in front of the span, in tokens
    suffix_tokens: int = 512  # budget after the span, in tokens


class Candidate(NamedTuple):
    """A text for a span that passed the judge; apply as text[:start] + text + text[end:]."""

    span: Span
    text: str
    score: float
    verdict: tuple[
        str, ...
    ]  # the rules that cut or repaired it, in order; empty if none
    n_tokens: int = 0
    forwards: int = 0


def propose(
    snapshot: Snapshot,
    cursor: int,
    filler: Filler,
    options: Options,
    stop: StopFlag = never,
) -> list[Candidate]:
    """Return judged candidates for the span at ``cursor`` (code points), best first."""
    raise NotImplementedError
