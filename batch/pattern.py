"""Patterns with metavariables, through ast-grep's engine."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ast_grep_py import SgNode, SgRoot

from niello.infill.errors import SettingsError

# ast-grep's names where they differ; it panics at a name it does not know.
LANGUAGES = {
    name: name
    for name in [
        "bash",
        "c",
        "cpp",
        "css",
        "go",
        "html",
        "java",
        "javascript",
        "json",
        "kotlin",
        "lua",
        "php",
        "python",
        "ruby",
        "rust",
        "scala",
        "swift",
        "tsx",
        "typescript",
        "yaml",
    ]
} | {"csharp": "csharp", "c_sharp": "csharp", "c-sharp": "csharp"}

_METAVARIABLE = re.compile(r"(\$\$\$|\$)([A-Z_][A-Z0-9_]*)")


class Found(NamedTuple):
    """A match by code points, with the text of each metavariable."""

    start: int
    end: int
    captures: dict[str, str]


def find_pattern(text: str, language: str, source: str) -> Iterator[Found]:
    """Yield a pattern's matches; languages ast-grep lacks have none."""
    name = LANGUAGES.get(language)
    if name is None:
        return
    try:
        nodes = SgRoot(text, name).root().find_all(pattern=source)
    except RuntimeError as error:
        reason = str(error).partition("\n\n")[0]
        raise SettingsError(f"--pattern: {reason}: {source!r}") from error
    for node in nodes:
        extent = node.range()
        captures = {
            name: _text(node, name, many=mark == "$$$", text=text)
            for mark, name in _METAVARIABLE.findall(source)
        }
        yield Found(extent.start.index, extent.end.index, captures)


def _text(node: SgNode, name: str, *, many: bool, text: str) -> str:
    if not many:
        found = node.get_match(name)
        return "" if found is None else found.text()
    nodes = node.get_multiple_matches(name)
    if not nodes:
        return ""
    return text[nodes[0].range().start.index : nodes[-1].range().end.index]
