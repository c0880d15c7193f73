"""A rewrite: fixed text, metavariables, and the holes the model fills.

`requests.get($URL, timeout=⟦seconds⟧)` has one metavariable, `$URL`, which stands for
text of the file, and one hole. Holes of one name get one text. A `$word` that was not
captured is plain text, since it is code in PHP, shell and others.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

_HOLE = re.compile(r"⟦(\w*)⟧")
_VARIABLE = re.compile(r"(\$\$\$|\$)([A-Za-z_]\w*)(\s*,\s*)?")


class Template(NamedTuple):
    """``pieces[0] hole pieces[1] hole ...``: one piece more than ``holes``."""

    pieces: tuple[str, ...]
    holes: tuple[str, ...]  # names; empty for a hole that has none

    def with_fills(self, fills: Mapping[int, str]) -> str:
        """Return the text with holes filled by number; a hole left out is empty."""
        return self.head(fills, len(self.holes))

    def head(self, fills: Mapping[int, str], number: int) -> str:
        """Return the text in front of a hole."""
        parts = [self.pieces[0]]
        for other, piece in enumerate(self.pieces[1 : number + 1]):
            parts += [fills.get(other, ""), piece]
        return "".join(parts)

    def tail(self, fills: Mapping[int, str], number: int) -> str:
        """Return the text after a hole."""
        parts = [self.pieces[number + 1]]
        for other in range(number + 1, len(self.holes)):
            parts += [fills.get(other, ""), self.pieces[other + 1]]
        return "".join(parts)

    def same_hole(self, number: int) -> int:
        """Return the number of the first hole with the same name, maybe its own."""
        name = self.holes[number]
        return self.holes.index(name) if name else number


WHOLE = Template(("", ""), ("",))
"""One hole and nothing else: the node is replaced as a whole."""


def parse_template(rewrite: str) -> Template:
    """Cut a rewrite at its holes."""
    parts = _HOLE.split(rewrite)
    return Template(tuple(parts[::2]), tuple(parts[1::2]))


def bind(
    template: Template, captures: Mapping[str, str], indent: str, newline: str
) -> Template:
    """Put captured text for the metavariables and indent the template's own lines."""

    def value(found: re.Match[str]) -> str:
        mark, name, comma = found[1], found[2], found[3] or ""
        if name not in captures:
            return found[0]
        if mark == "$$$" and comma:
            # `f($$$ARGS, more)` must not become `f(, more)` or `f(a,, more)`.
            items = captures[name].rstrip().removesuffix(",")
            return items + comma if items else ""
        return captures[name] + comma

    def bound(piece: str) -> str:
        lines = piece.replace("\r\n", "\n").split("\n")
        return _VARIABLE.sub(value, (newline + indent).join(lines))

    return template._replace(pieces=tuple(bound(piece) for piece in template.pieces))
