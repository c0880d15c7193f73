"""What a text may become when it does not parse: less of it, or its brackets closed."""

from niello.grammars.catalogue import Language

from .lexis import unclosed

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
