"""Patterns with metavariables, through ast-grep's engine."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ast_grep_py import Pattern, SgNode, SgRoot

from niello.infill.errors import SettingsError
from niello.infill.lexis import unclosed

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

# Where a call alone reads as a type or a declaration, and what makes it a call.
_AROUND_CALLS = {
    "c": "void f() {{ {}; }}",
    "cpp": "void f() {{ {}; }}",
    "go": "package p\nfunc f() {{ {} }}",
}
_CALLED = re.compile(
    r"(?!(?:sizeof|alignof|decltype|if|while|for|switch|return)\b)"
    r"[\w$]+(?:(?:\.|->|::)[\w$]+)*\("
)
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
        nodes = _find_all(SgRoot(text, name).root(), name, source)
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


def _find_all(root: SgNode, language: str, source: str) -> list[SgNode]:
    around = _AROUND_CALLS.get(language)
    if around is not None and _is_call(source):
        pattern: Pattern = {
            "context": around.format(source),
            "selector": "call_expression",
            "strictness": "smart",
        }
        try:
            return root.find_all({"rule": {"pattern": pattern}})
        except RuntimeError:  # It is none after all.
            pass
    return root.find_all(pattern=source)


def _is_call(source: str) -> bool:
    called = _CALLED.match(source)
    if called is None or not source.endswith(")"):
        return False
    opened = unclosed(source[:-1], None)
    return [each.offset for each in opened] == [called.end() - 1]


def _text(node: SgNode, name: str, *, many: bool, text: str) -> str:
    if not many:
        found = node.get_match(name)
        return "" if found is None else found.text()
    nodes = node.get_multiple_matches(name)
    if not nodes:
        return ""
    return text[nodes[0].range().start.index : nodes[-1].range().end.index]
