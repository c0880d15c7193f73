"""Recipes: the steps of a refactoring, from options or from a TOML file.

A recipe file holds `name`, `about`, options (`verify`, `max_tries`, `min_confidence`),
`[[step]]` tables and `[[test]]` tables; the ones beside this module are examples.
"""

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, TypeVar

from niello.infill.errors import SettingsError

_T = TypeVar("_T")

DEFAULT_MARKERS = ("# FILL", "// FILL", "TODO: fill", "<|fill|>", "⟦⟧")
PROJECT_RECIPE = "niello.refactor.toml"


class Query(NamedTuple):
    """Nodes that a tree-sitter query captures as ``@fill``."""

    source: str


class Select(NamedTuple):
    """A text object of the grammar, such as ``function.inner``."""

    name: str


class Pattern(NamedTuple):
    """Code with metavariables, as ast-grep reads it."""

    source: str


class Marker(NamedTuple):
    """Texts that stand where something is to be written."""

    texts: tuple[str, ...]


class Place(NamedTuple):
    """One stretch of one file; lines and columns count from 1, the end is left out."""

    path: Path
    start: tuple[int, int]
    end: tuple[int, int]


class Places(NamedTuple):
    """Stretches that were named one by one."""

    places: tuple[Place, ...]


Find = Query | Select | Pattern | Marker | Places


class HoleRule(NamedTuple):
    """What a hole's text must be like."""

    match: str = ""  # a regular expression for the whole text; empty: anything
    until: str = ""  # a regular expression; the text ends before it
    room: int = 0  # most tokens; 0: the run's own limit


class Step(NamedTuple):
    """One kind of target and what to put there."""

    find: Find
    rewrite: str = ""  # empty: the target is one hole
    language: str = ""  # empty: every language in which the step makes sense
    name: str = ""  # a regular expression for the name of the target
    unless: str = ""  # a regular expression; targets whose text has it are left alone
    holes: Mapping[str, HoleRule] = {}


class RecipeTest(NamedTuple):
    """A file's text before and after, if the holes are filled as given."""

    language: str
    before: str
    fills: tuple[str, ...]
    after: str


class Recipe(NamedTuple):
    """The steps of a run, in order, and the options the recipe asks for."""

    steps: tuple[Step, ...]
    name: str = ""
    about: str = ""
    verify: str = ""
    max_tries: int | None = None
    min_confidence: float | None = None
    tests: tuple[RecipeTest, ...] = ()


def find_recipe(name: str) -> Recipe:
    """Return a recipe by the path of its file or by the name of a shipped one."""
    path = Path(name)
    if path.suffix == ".toml":
        try:
            return parse_recipe(path.read_text("utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path}: cannot read the recipe: {error}") from error
    for recipe in shipped_recipes():
        if recipe.name == name:
            return recipe
    names = ", ".join(recipe.name for recipe in shipped_recipes())
    raise SettingsError(f"no recipe {name!r}; shipped are {names}, or name a .toml")


def shipped_recipes() -> list[Recipe]:
    """Return the recipes that come with Niello, by name."""
    folder = files("niello.batch") / "recipes"
    return [
        parse_recipe(file.read_text("utf-8"), file.name)
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    ]


def parse_recipe(text: str, origin: str) -> Recipe:
    """Read a recipe; ``origin`` names it in messages."""
    try:
        table = _Table(tomllib.loads(text), origin)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{origin}: {error}") from error
    tries, confidence = (
        table.take("max_tries", int),
        table.take("min_confidence", float),
    )
    recipe = Recipe(
        steps=tuple(_step(part) for part in table.tables("step")),
        name=table.text("name"),
        about=table.text("about"),
        verify=table.text("verify"),
        max_tries=tries,
        min_confidence=confidence,
        tests=tuple(_test(part) for part in table.tables("test")),
    )
    table.must_be_used_up()
    if not recipe.steps:
        raise SettingsError(f"{origin}: has no [[step]]")
    return recipe


def make_step(find: Find, rewrite: str, language: str, name: str, unless: str) -> Step:
    """Return a step made of command-line options, checked like one of a file."""
    for option, expression in (("--name", name), ("--unless", unless)):
        _check_expression(option, expression)
    return Step(find, rewrite, language, name, unless)


def _step(table: "_Table") -> Step:
    finds: list[Find] = []
    if source := table.text("query"):
        finds.append(Query(source))
    if select := table.text("select"):
        finds.append(Select(select))
    if pattern := table.text("pattern"):
        finds.append(Pattern(pattern))
    if markers := table.take("markers", list):
        finds.append(Marker(tuple(str(marker) for marker in markers)))
    if len(finds) != 1:
        raise SettingsError(
            f"{table.origin}: needs one of query, select, pattern, markers"
        )
    holes = {name: _hole_rule(part) for name, part in table.named_tables("holes")}
    step = Step(
        find=finds[0],
        rewrite=table.text("rewrite"),
        language=table.text("language"),
        name=table.expression("name"),
        unless=table.expression("unless"),
        holes=holes,
    )
    table.must_be_used_up()
    return step


def _hole_rule(table: "_Table") -> HoleRule:
    rule = HoleRule(
        table.expression("match"),
        table.expression("until"),
        table.take("room", int) or 0,
    )
    table.must_be_used_up()
    return rule


def _test(table: "_Table") -> RecipeTest:
    fills = tuple(str(fill) for fill in table.take("fills", list) or [])
    test = RecipeTest(
        table.text("language"), table.text("before"), fills, table.text("after")
    )
    table.must_be_used_up()
    return test


class _Table:
    """A TOML table that knows which of its keys were asked for."""

    def __init__(self, values: object, origin: str) -> None:
        if not isinstance(values, dict):
            raise SettingsError(f"{origin}: must be a table")
        self.origin = origin
        self._values = dict(values)

    def take(self, key: str, kind: type[_T]) -> _T | None:
        """Return and use up a value; a whole number will do for a float."""
        value = self._values.pop(key, None)
        if kind is float and type(value) is int:
            value = float(value)
        if value is not None and type(value) is not kind:
            raise SettingsError(f"{self.origin}: {key} must be a {kind.__name__}")
        return value

    def text(self, key: str) -> str:
        return self.take(key, str) or ""

    def expression(self, key: str) -> str:
        expression = self.text(key)
        _check_expression(f"{self.origin}: {key}", expression)
        return expression

    def tables(self, key: str) -> "list[_Table]":
        found = self.take(key, list) or []
        return [_Table(v, f"{self.origin}: {key} {n}") for n, v in enumerate(found, 1)]

    def named_tables(self, key: str) -> "list[tuple[str, _Table]]":
        found = self.take(key, dict) or {}
        return [
            (name, _Table(v, f"{self.origin}: {key}.{name}"))
            for name, v in found.items()
        ]

    def must_be_used_up(self) -> None:
        """Complain about a key nobody asked for: it is a slip of the pen."""
        if self._values:
            raise SettingsError(f"{self.origin}: unknown key {min(self._values)!r}")


def _check_expression(name: str, expression: str) -> None:
    try:
        re.compile(expression)
    except re.error as error:
        raise SettingsError(f"{name}: not a regular expression: {error}") from error
