"""The files of a run: walked, told apart by language, checked against the query."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from niello.grammars.catalogue import find_language, language_of
from niello.infill.errors import SettingsError
from niello.infill.query import check_query

from .options import RefactorOptions
from .recipe import Query, Recipe
from .walk import Found, Skipped, Wanted, walk


def find_items(options: RefactorOptions, recipe: Recipe) -> list[Found | Skipped]:
    """Return the files to look at; a query must fit at least one of their languages."""
    languages = [_language(name) for name in options.lang]
    wanted = Wanted(options.glob, languages, options.no_ignore, options.hidden)
    places = [place.rpartition(":")[0].rpartition(":")[0] for place in options.at]
    paths = options.paths or [p.rpartition(":")[0] for p in places] or ["."]
    items = list(walk([Path(path) for path in paths], wanted, _known_language))
    present = {item.language for item in items if isinstance(item, Found)}
    for step in recipe.steps:
        fitting = {step.language} if step.language else present
        if isinstance(step.find, Query) and fitting:
            _must_fit(step.find, fitting)
    return items


def _must_fit(query: Query, languages: set[str]) -> None:
    mistakes: list[SettingsError] = []
    for language in sorted(languages):
        try:
            check_query(language, query.source)
            return
        except SettingsError as error:
            mistakes.append(error)
    raise mistakes[0]


def _language(name: str) -> str:
    language = find_language(name)
    if language is None:
        raise SettingsError(f"--lang: no grammar for {name!r}")
    return language.name


def _known_language(path: PurePath) -> str | None:
    language = find_language(language_of(path))
    return None if language is None else language.name


def size_of(items: Sequence[Found | Skipped]) -> int:
    """Return the bytes of all files to look at."""
    return sum(item.path.stat().st_size for item in items if isinstance(item, Found))
