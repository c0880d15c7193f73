"""The files of a run: walked, told apart by language, checked against the query."""

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from niello.grammars.catalogue import (
    all_languages,
    find_language,
    language_of,
    query_text,
)
from niello.infill.errors import SettingsError
from niello.infill.query import capture_names

from .options import RefactorOptions
from .recipe import PROJECT_RECIPE, Query, Recipe, Select
from .walk import Found, Skipped, Wanted, walk

_CAPTURE = re.compile(r"@([\w.]+)")


def find_items(options: RefactorOptions, recipe: Recipe) -> list[Found | Skipped]:
    """Return the files to look at; a query must fit at least one of their languages."""
    languages = [_language(name) for name in options.lang]
    wanted = Wanted(options.glob, languages, options.no_ignore, options.hidden)
    places = [place.rpartition(":")[0].rpartition(":")[0] for place in options.at]
    paths = options.paths or [p.rpartition(":")[0] for p in places] or ["."]
    found = walk([Path(path) for path in paths], wanted, _known_language)
    items = [_unless_recipe(item) for item in found]
    present = {item.language for item in items if isinstance(item, Found)}
    for step in recipe.steps:
        fitting = {step.language} if step.language else present
        if isinstance(step.find, Query) and fitting:
            _must_fit(step.find, fitting)
        if isinstance(step.find, Select):
            _must_be_known(step.find.name)
    return items


def _unless_recipe(item: Found | Skipped) -> Found | Skipped:
    """Leave out the project's recipe, which spells what it is looking for."""
    if isinstance(item, Found) and item.path.name == PROJECT_RECIPE and not item.named:
        return Skipped(item.path, "a recipe")
    return item


def _must_be_known(name: str) -> None:
    known = {
        capture
        for language in all_languages()
        for capture in _CAPTURE.findall(query_text(language, "textobjects"))
    }
    if name not in known:
        names = ", ".join(sorted(known))
        raise SettingsError(f"--select: no text object {name!r}; there are {names}")


def _must_fit(query: Query, languages: set[str]) -> None:
    mistakes: list[SettingsError] = []
    for language in sorted(languages):
        try:
            if "fill" not in capture_names(language, query.source):
                raise SettingsError("the query captures nothing as @fill")
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
    """Return the bytes of all files to look at; one that has gone by now has none."""
    total = 0
    for item in items:
        if isinstance(item, Found):
            with contextlib.suppress(OSError):
                total += item.path.stat().st_size
    return total
