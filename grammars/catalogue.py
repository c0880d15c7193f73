"""What is known of each language: its grammar, its lexical facts and its query files.

Knows nothing of tree-sitter: it names the module that holds a grammar and reads query
texts. A folder of the user's own can add languages and override files of this one.
"""

import os
import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from typing import Literal, NamedTuple, get_args

import platformdirs

Layout = Literal["indent", "brace", "word", "flow"]
"""How blocks are told: by indentation, by braces, by closing words, or not at all."""


class Quote(NamedTuple):
    """One kind of string: how it opens and closes, and how it may be written."""

    opener: str
    closer: str
    style: str = ""  # "", "lines", "raw" or "char"
    code: str = ""  # what opens code inside, "${ $("


class Language(NamedTuple):
    """The facts of one language; a row of ``languages.toml``."""

    name: str
    module: str
    function: str = "language"
    extensions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    line_comments: tuple[str, ...] = ()  # regular expressions
    block_comment: tuple[str, ...] = ()  # opener, closer
    strings: tuple[Quote, ...] = ()
    regex: bool = False
    brackets: str = "([{"  # which brackets mean something; "<" stands for tags
    heredoc: str = ""  # a regular expression; its group "word" is the closing word
    layout: Layout = "flow"
    indent: str = "    "
    continues: tuple[str, ...] = ()
    terminator: str = ""
    header: str = ""  # what ends a line that a deeper block has to follow
    ascii: bool = False  # whether the grammar's scanner is safe with ASCII only
    lineage: tuple[str, ...] = ()  # query folders, own one first


def find_language(name: str) -> Language | None:
    """Return the language a client or a user calls ``name``, or None."""
    languages, named, _ = _catalogue(_user_folder())
    return languages.get(named.get(name.lower(), ""))


def language_of(path: PurePath) -> str:
    """Return the language's name for a file name, or its extension if unknown."""
    extension = path.suffix.lstrip(".").lower()
    return _catalogue(_user_folder())[2].get(extension, extension)


def all_languages() -> tuple[Language, ...]:
    """Return every known language, in the order of the files that name them."""
    return tuple(_catalogue(_user_folder())[0].values())


@lru_cache
def query_text(language: Language, purpose: str) -> str:
    """Return ``PURPOSE.scm`` of a language, with what it inherits in front."""
    return _query_text(language, purpose, _user_folder())


def _query_text(language: Language, purpose: str, user: Path | None) -> str:
    for name in language.lineage:
        for folder in (user, files(__package__)):
            if folder is None:
                continue
            path = folder / name / f"{purpose}.scm"
            if path.is_file():
                return _with_inherited(path.read_text("utf-8"), purpose)
    return ""


def _with_inherited(text: str, purpose: str) -> str:
    header = re.match(r";\s*inherits:\s*(\S.*)", text)
    if header is None:
        return text
    parts = []
    for name in header.group(1).replace(",", " ").split():
        language = find_language(name)
        if language is not None:
            parts.append(query_text(language, purpose))
    return "\n".join([*parts, text])


def _user_folder() -> Path | None:
    return _folder(os.environ.get("NIELLO_GRAMMARS", ""))


@lru_cache
def _folder(named: str) -> Path | None:
    folder = Path(named or platformdirs.user_config_path("niello") / "grammars")
    return folder if folder.is_dir() else None


_Catalogue = tuple[dict[str, Language], dict[str, str], dict[str, str]]


@lru_cache
def _catalogue(user: Path | None) -> _Catalogue:
    languages: dict[str, Language] = {}
    rows = _rows(files(__package__) / "languages.toml")
    if user is not None and (user / "languages.toml").is_file():
        for name, row in _rows(user / "languages.toml").items():
            rows[name] = {**rows.get(name, {}), **row}
    for name in rows:
        languages[name] = _language(name, rows)
    named = {
        alias.lower(): language.name
        for language in languages.values()
        for alias in (*language.names, language.name)
    }
    by_extension = {
        extension: language.name
        for language in languages.values()
        for extension in language.extensions
    }
    return languages, named, by_extension


_Row = dict[str, object]


def _rows(path: Traversable | Path) -> dict[str, _Row]:
    return tomllib.loads(path.read_text("utf-8"))


def _language(name: str, rows: dict[str, _Row]) -> Language:
    lineage = [name]
    row = rows[name]
    while isinstance(parent := row.get("inherits"), str) and parent in rows:
        lineage.append(parent)
        own = {key: value for key, value in row.items() if key != "inherits"}
        row = {**rows[parent], "extensions": [], "names": [], **own}
    layout = _text(row, "layout") or "flow"
    if layout not in get_args(Layout):
        raise ValueError(f"languages.toml: {name}: unknown layout {layout!r}")
    return Language(
        name=name,
        module=_text(row, "module"),
        function=_text(row, "function") or "language",
        extensions=_texts(row, "extensions"),
        names=_texts(row, "names"),
        line_comments=_texts(row, "line_comment"),
        block_comment=_texts(row, "block_comment"),
        strings=tuple(Quote(*quote) for quote in _lists(row, "strings")),
        regex=bool(row.get("regex", False)),
        brackets=str(row.get("brackets", "([{")),
        heredoc=_text(row, "heredoc"),
        layout=layout,  # type: ignore[arg-type]  # held by the test above
        indent=_text(row, "indent") or "    ",
        continues=_texts(row, "continues"),
        terminator=_text(row, "terminator"),
        header=_text(row, "header"),
        ascii=bool(row.get("ascii", False)),
        lineage=tuple(lineage),
    )


def _text(row: _Row, key: str) -> str:
    value = row.get(key, "")
    return value if isinstance(value, str) else ""


def _texts(row: _Row, key: str) -> tuple[str, ...]:
    value = row.get(key, ())
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _lists(row: _Row, key: str) -> list[list[str]]:
    value = row.get(key, ())
    return [list(map(str, part)) for part in value] if isinstance(value, list) else []
