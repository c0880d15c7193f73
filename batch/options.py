"""The options of `niello refactor`, as one value that a journal can hold."""

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from niello.infill.errors import SettingsError, SourceError
from niello.infill.files import MAX_BYTES, read_source

from .fill import FillOptions
from .journal import Event
from .recipe import (
    DEFAULT_MARKERS,
    PROJECT_RECIPE,
    Find,
    Marker,
    Pattern,
    Place,
    Places,
    Query,
    Recipe,
    Select,
    find_recipe,
    make_step,
)

DEFAULT_PREVIEW = "default"

_PLACE = re.compile(r"(.+):(\d+):(\d+)-(\d+):(\d+)")


@dataclass(frozen=True)
class RefactorOptions:
    """What was asked for; names and defaults are those of the command line."""

    paths: list[str] = field(default_factory=list)
    # Targets: one of these.
    query: str | None = None
    query_file: str | None = None
    select: str | None = None
    pattern: str | None = None
    marker: bool = False
    marker_text: list[str] = field(default_factory=list)
    at: list[str] = field(default_factory=list)
    recipe: str | None = None
    # What to put there, and which targets to leave alone.
    rewrite: str = ""
    name: str = ""
    unless: str = ""
    limit: int | None = None
    # Files.
    glob: list[str] = field(default_factory=list)
    lang: list[str] = field(default_factory=list)
    no_ignore: bool = False
    hidden: bool = False
    max_bytes: int = MAX_BYTES
    # The model and the gates.
    model: str = DEFAULT_PREVIEW
    seed: int = 0
    jobs: int | None = None
    room: int = 256
    max_tries: int | None = None
    min_confidence: float | None = None
    verify_cmd: str | None = None

    def to_json(self) -> Event:
        """Return the options as they stand in a journal."""
        return asdict(self)


def options_from_json(event: Event) -> RefactorOptions:
    """Return the options of a journal's first event."""
    values = event.get("options")
    if not isinstance(values, dict):
        raise SettingsError("the journal does not say what was asked for; run it anew")
    try:
        return RefactorOptions(**values)
    except TypeError as error:
        raise SettingsError(
            "the journal is of another version of Niello; run it anew"
        ) from error


def recipe_of(options: RefactorOptions) -> Recipe:
    """Return the steps that the options ask for; the project's own recipe if none."""
    finds = list(_finds(options))
    if len(finds) + (options.recipe is not None) > 1:
        raise SettingsError(
            "name the targets in one way: --query, --query-file, --select, --pattern, "
            "--marker, --at or --recipe"
        )
    if finds:
        languages = options.lang if len(options.lang) == 1 else [""]
        step = make_step(
            finds[0], options.rewrite, languages[0], options.name, options.unless
        )
        return Recipe((step,))
    if options.recipe is None and not Path(PROJECT_RECIPE).exists():
        raise SettingsError(
            "nothing says what to refactor: give --pattern, --query, --select, "
            f"--marker, --at or --recipe, or write a {PROJECT_RECIPE}"
        )
    for name in ("rewrite", "name", "unless"):
        if getattr(options, name):
            raise SettingsError(
                f"--{name} does not go with a recipe, which has its own"
            )
    return find_recipe(options.recipe or PROJECT_RECIPE)


def fill_options(options: RefactorOptions, recipe: Recipe) -> FillOptions:
    """Return how to fill: the command line's word, else the recipe's, else defaults."""
    usual = FillOptions()
    tries = _first(options.max_tries, recipe.max_tries, usual.max_tries)
    confidence = _first(
        options.min_confidence, recipe.min_confidence, usual.min_confidence
    )
    if tries < 1:
        raise SettingsError("--max-tries must be 1 or more")
    if not 0 <= confidence <= 1:
        raise SettingsError("--min-confidence must be between 0 and 1")
    return FillOptions(int(tries), confidence, options.seed, options.room)


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)


def _finds(options: RefactorOptions) -> "list[Find]":
    finds: list[Find] = []
    if options.query is not None:
        finds.append(Query(options.query))
    if options.query_file is not None:
        finds.append(Query(_read_query(Path(options.query_file))))
    if options.select is not None:
        finds.append(Select(options.select))
    if options.pattern is not None:
        finds.append(Pattern(options.pattern))
    if options.marker or options.marker_text:
        finds.append(Marker(tuple(options.marker_text) or DEFAULT_MARKERS))
    if options.at:
        finds.append(Places(tuple(parse_place(place) for place in options.at)))
    return finds


def _read_query(path: Path) -> str:
    try:
        return read_source(path).text
    except SourceError as error:
        raise SettingsError(f"--query-file: {error}") from error


def parse_place(text: str) -> Place:
    """Read PATH:L:C-L:C; lines and columns count from 1, the end is left out."""
    found = _PLACE.fullmatch(text)
    if found is None:
        raise SettingsError(f"--at: {text!r} is not of the form PATH:L:C-L:C")
    line, column, end_line, end_column = map(int, found.groups()[1:])
    start, end = (line, column), (end_line, end_column)
    if end < start:
        raise SettingsError(f"--at: {text!r} ends before it begins")
    return Place(Path(found[1]), start, end)
