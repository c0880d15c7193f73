"""What to fill: a canvas between a fixed prefix and suffix, and the port that fills it.

Knows nothing of tokens or models: lengths are counted in the filler's own tokens only
where a name says ``n_tokens`` or ``room``.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from .context import Context

StopRule = Callable[[str], int | None]
"""Given the canvas text so far (``given`` included), the length at which the span is
full, or None while it goes on. Pure; called once a token."""

StopFlag = Callable[[], bool]
"""True once nobody waits for the answer any more; read often within a pass."""

Reason = Literal["span", "end", "room", "stopped"]
"""Why a fill ended: the span's rule, the model's end token, no room left, the flag."""


class Canvas(NamedTuple):
    """A stretch to fill, with the fixed text around it."""

    context: Context
    given: str  # text already typed at the start of the span; fixed, part of no prefix
    room: int  # most tokens to fill
    stop: StopRule
    may_be_empty: bool = True  # False: something is to be written, however unlikely
    after: str = ""  # what the file goes on with; tells several candidates apart


class Draws(NamedTuple):
    """How many candidates to draw of a canvas; the first is greedy at temperature 0."""

    n: int = 1
    temperature: float = 0.0
    seed: int = 0


class Fill(NamedTuple):
    """What a filler wrote into a canvas; ``text`` follows ``given``, without it."""

    text: str
    confidence: float  # mean log-probability of the text's tokens, nats
    forwards: int  # passes that wrote; those of the context and joins are not counted
    reason: Reason
    n_tokens: int = 0  # tokens written
    n_fed: int = 0  # tokens computed, the context's own included
    n_cached: int = 0  # tokens of the prompt found in the cache
    n_dropped: int = 0  # of those computed, drafts and masks that did not become text
    join: float = 0.0  # mean log-probability of what comes after; 0: not looked at


class Filler(Protocol):
    """The port the engine implements."""

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        """Fill each canvas ``draws.n`` times; one list of fills a canvas, in order."""
        ...


def never() -> bool:
    """Return False: the stop flag of callers that always wait."""
    return False
