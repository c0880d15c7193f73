"""What a text may become when it does not parse: less of it, or its brackets closed.

Which of several texts parses best is asked of the caller, who has the document.
"""

import re
from collections.abc import Callable
from itertools import islice

from niello.grammars.catalogue import Language

from .lexis import unclosed
from .lines import is_blank

CountBroken = Callable[[str], int]
"""Tells how many ERROR and MISSING nodes the document has with a text in the span."""

_MOST_CUTS = 24  # places to cut back to that are tried


def repairs(
    written: str, given: str, rest: str, language: Language | None
) -> list[tuple[str, str]]:
    """Return what may stand instead of a text, likeliest first, with the rule's name.

    ``rest`` is what follows on the last line.
    """
    body = written.rstrip()
    tries = [
        ("joined", written[:-size])
        for size in range(min(len(rest), len(written)), 0, -1)
        if written.endswith(rest[:size])
    ]
    if body.endswith((")", "]", "}")):
        tries.append(("brackets", body[:-1]))
    if body.endswith(","):
        tries.append(("comma", body[:-1]))
    missing = [
        bracket
        for bracket in unclosed(given + written, language)
        if bracket.offset >= len(given)
    ]
    if missing:
        closers = "".join(bracket.closer for bracket in reversed(missing))
        tries.append(("closed", body + closers))
    position = len(written)
    for _ in range(_MOST_CUTS):
        position = written.rfind("\n", 0, position)
        if position <= 0:
            break
        tries.append(("cut", written[:position]))
    return tries


def drop_comma(written: str, suffix: str, n_broken: CountBroken) -> str:
    """Drop a comma before a closing bracket where the language has none."""
    body = written.rstrip()
    if not body.endswith(",") or not suffix.lstrip().startswith((")", "]", "}")):
        return written
    return body[:-1] if n_broken(body[:-1]) < n_broken(written) else written


def drop_rest(written: str, rest: str, n_broken: CountBroken) -> str:
    """Drop a short end of the line that is there, and what follows a copy of it."""
    rest = rest.strip(" \t\\")
    if not rest or len(rest) > len(written):
        return written
    copy = rf"{re.escape(rest)}[ \t]*$"
    found = [*islice(re.finditer(copy, written, re.MULTILINE), 3)]
    most = n_broken(written) if found else 0
    heads = (written[: match.start()] for match in found if most)
    fewer = (each for each in heads if not is_blank(each) and n_broken(each) < most)
    return next(fewer, written)
