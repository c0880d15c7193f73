"""The verbs of refactoring: a new run, one that goes on, one that is written later."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from niello.infill.canvas import Canvas, Draws, Fill, Filler, StopFlag
from niello.infill.errors import SettingsError

from .desk import Desk, Manner
from .document import Key
from .fill import Job, Outcome, redraw
from .inputs import find_items, size_of
from .interactive import Asker
from .journal import (
    Event,
    Journal,
    find_journal,
    new_journal_path,
    number_of,
    read_events,
    text_of,
)
from .options import RefactorOptions, fill_options, options_from_json, recipe_of
from .plan import Progress, Run, plan
from .recipe import Recipe
from .recipetest import failures
from .report import ProgressLine
from .session import Session
from .walk import Found, Skipped
from .width import Width

Load = Callable[[str], Filler]
"""Loads a model by name; called when there is something to fill, and not before."""

_CANDIDATES = 4  # drawn when the user asks for others


def refactor(options: RefactorOptions, manner: Manner, desk: Desk, load: Load) -> int:
    """Plan a new run, show or write it, and return the exit status."""
    recipe = recipe_of(options)
    items = find_items(options, recipe)
    # All that was asked for makes sense, so the run gets a journal.
    path = new_journal_path()
    journal = Journal(path)
    journal.add(
        {
            "event": "run",
            "version": 1,
            "root": str(Path.cwd()),
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "recipe": _digest(recipe),
            "options": options.to_json(),
        }
    )
    journal.close()
    return _go_on(path, options, items, {}, manner, desk, load)


def resume(
    run: str | None,
    manner: Manner,
    desk: Desk,
    load: Load,
    *,
    verify_cmd: str | None = None,
) -> int:
    """Go on with a run that was broken off; what was settled is not filled again."""
    path = find_journal(run)
    events = read_events(path)
    options = options_from_json(first := next(events, {}))
    if text_of(first, "root") != str(Path.cwd()):
        raise SettingsError(f"this run belongs to {first['root']}; go there first")
    recipe = recipe_of(options)
    if text_of(first, "recipe") != _digest(recipe):
        raise SettingsError("the recipe or query has changed since; start a new run")
    settled: dict[Key, Event] = {}
    for event in events:
        if event["event"] == "target":
            settled[_key(event)] = event
        elif event["event"] == "planned":
            return apply_run(path, manner, desk, verify_cmd=verify_cmd)
    if verify_cmd is not None:
        options = replace(options, verify_cmd=verify_cmd)
    items = find_items(options, recipe)
    return _go_on(path, options, items, settled, manner, desk, load)


def apply_run(path: Path, manner: Manner, desk: Desk, *, verify_cmd: str | None) -> int:
    """Write what a journal holds; needs no model."""
    events = read_events(path)
    options = options_from_json(first := next(events, {}))
    session = Session(path, Path(text_of(first, "root")), manner, desk)
    for event in events:
        if event["event"] == "planned":
            command = verify_cmd or options.verify_cmd or recipe_of(options).verify
            return session.finish(command)
        session.recall(event)
    raise SettingsError(
        f"run {path.stem} was broken off; go on with niello refactor --resume "
        f"{path.stem}"
    )


def test_recipe(options: RefactorOptions, desk: Desk) -> int:
    """Run a recipe's own tests; return 0 if there are some and all pass."""
    recipe = recipe_of(options)
    if not recipe.tests:
        raise SettingsError("the recipe has no [[test]]")
    failed = list(failures(recipe))
    desk.out.writelines(failed)
    passed = len(recipe.tests) - len(failed)
    desk.err.write(f"{passed} of {len(recipe.tests)} tests passed\n")
    return 3 if failed else 0


def _go_on(
    path: Path,
    options: RefactorOptions,
    items: list[Found | Skipped],
    settled: dict[Key, Event],
    manner: Manner,
    desk: Desk,
    load: Load,
) -> int:
    """Plan what is not settled yet, then end the run as its manner is."""
    recipe = recipe_of(options)
    filler = _Late(options.model, load, desk)
    run = Run(
        steps=recipe.steps,
        filler=filler,
        options=fill_options(options, recipe),
        width=Width(options.jobs),
        limit=options.limit,
        max_bytes=options.max_bytes,
        settled=settled,
        clean_only=(manner.write or manner.interactive) and not manner.allow_dirty,
    )
    if manner.interactive:

        def others(job: Job) -> list[Outcome]:
            return redraw(job, filler, run.options, _CANDIDATES)

        run = run._replace(ask=Asker(desk.answers, desk.err, desk.colours, others))
    session = Session(path, Path.cwd(), manner, desk)
    # While the user is asked, the screen is the question's.
    shown = desk.progress and not manner.interactive
    line = ProgressLine(desk.err, size_of(items), shown=shown)
    try:
        for event in plan(run, items):
            if isinstance(event, Progress):
                line.show(event)
            else:
                line.clear()
                session.take(event)
    except KeyboardInterrupt:
        line.clear()
        desk.err.write(f"stopped; go on with: niello refactor --resume {path.stem}\n")
        raise
    line.clear()
    return session.finish(options.verify_cmd or recipe.verify)


def _key(event: Event) -> Key:
    return (
        text_of(event, "path"),
        text_of(event, "sha256"),
        number_of(event, "step"),
        number_of(event, "start"),
        number_of(event, "end"),
    )


def _digest(recipe: Recipe) -> str:
    return hashlib.sha256(repr(recipe.steps).encode()).hexdigest()


class _Late:
    """A filler that is loaded when first used: a run without targets needs none."""

    def __init__(self, model: str, load: Load, desk: Desk) -> None:
        self._model = model
        self._load = load
        self._desk = desk
        self._filler: Filler | None = None

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        if self._filler is None:
            if self._desk.progress:
                self._desk.err.write(f"loading the model {self._model} ...")
                self._desk.err.flush()
            self._filler = self._load(self._model)
        return self._filler.fill(canvases, draws, stop)
