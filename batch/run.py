"""One run from what was asked for to its summary: plan, journal, preview, write."""

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from niello.infill.canvas import Canvas, Draws, Fill, Filler, StopFlag
from niello.infill.errors import NielloError, SettingsError

from .apply import Change, Verify, apply, change_of, new_text, shell_check
from .desk import Desk, Manner
from .document import Key
from .fill import Job, Outcome, redraw
from .html import write_html
from .inputs import find_items, size_of
from .interactive import Asker
from .journal import (
    Event,
    Journal,
    find_journal,
    new_journal,
    number_of,
    read_events,
    text_of,
)
from .options import RefactorOptions, fill_options, options_from_json, recipe_of
from .pace import Pace
from .plan import Progress, Run, plan
from .recipe import Recipe
from .recipetest import failures
from .report import ProgressLine, Tally, as_json, diff_lines
from .walk import Found, Skipped

Load = Callable[[str], Filler]
"""Loads a model by name; called when there is something to fill, and not before."""

_CANDIDATES = 4  # drawn when the user asks for others


def refactor(options: RefactorOptions, manner: Manner, desk: Desk, load: Load) -> int:
    """Plan a new run, show or write it, and return the exit status."""
    recipe = recipe_of(options)
    items = find_items(options, recipe)
    journal = new_journal()
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
    return _go_on(journal, options, recipe, items, {}, manner, desk, load)


def resume(run: str | None, manner: Manner, desk: Desk, load: Load) -> int:
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
            return apply_run(path, manner, desk, verify_cmd=None)
    journal = Journal(path)
    items = find_items(options, recipe)
    return _go_on(journal, options, recipe, items, settled, manner, desk, load)


def apply_run(path: Path, manner: Manner, desk: Desk, *, verify_cmd: str | None) -> int:
    """Show or write what a journal holds; needs no model."""
    tally = Tally(timed=False)
    changes: dict[str, Change] = {}
    events = read_events(path)
    options = options_from_json(first := next(events, {}))
    root, complete = Path(text_of(first, "root")), False
    for event in events:
        if event["event"] == "file":
            changes[text_of(event, "path")] = change_of(event, root)
        if event["event"] in ("target", "dropped", "skipped", "file", "refused"):
            tally.add(event)
        complete = complete or event["event"] == "planned"
        if complete:
            break
    if not complete:
        raise SettingsError(
            f"run {path.stem} was broken off; go on with niello refactor --resume "
            f"{path.stem}"
        )
    command = verify_cmd or options.verify_cmd or recipe_of(options).verify
    if manner.write:
        journal = Journal(path)
        _write(list(changes.values()), journal, tally, manner, desk, command, root)
    elif not manner.json:
        for change in changes.values():
            _show_diff(change, desk)
    return _finish(path, tally, manner, desk)


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
    journal: Journal,
    options: RefactorOptions,
    recipe: Recipe,
    items: list[Found | Skipped],
    settled: dict[Key, Event],
    manner: Manner,
    desk: Desk,
    load: Load,
) -> int:
    filler = _Late(lambda: load(options.model))
    filling = fill_options(options, recipe)

    def others(job: Job) -> list[Outcome]:
        return redraw(job, filler, filling, _CANDIDATES)

    ask = None
    if manner.interactive:
        ask = Asker(desk.answers, desk.err, desk.colours, others)
    run = Run(
        recipe.steps,
        filler,
        filling,
        Pace(options.jobs),
        options.limit,
        options.max_bytes,
        settled,
        ask,
    )
    tally = Tally()
    changes: dict[str, Change] = {}
    root = Path.cwd()
    line = ProgressLine(desk.err, size_of(items), shown=desk.progress)
    try:
        for event in plan(run, items):
            if isinstance(event, Progress):
                line.show(event)
                continue
            journal.add(event)
            tally.add(event)
            line.clear()
            if manner.json:
                desk.out.write(as_json(event))
            if event["event"] == "file":
                change = change_of(event, root)
                changes[change.name] = change
                if not (manner.json or manner.write or manner.interactive):
                    _show_diff(change, desk)
    except KeyboardInterrupt:
        line.clear()
        desk.err.write(
            f"stopped; go on with niello refactor --resume {journal.path.stem}\n"
        )
        raise
    line.clear()
    journal.add({"event": "planned"})
    if manner.write or manner.interactive:
        command = options.verify_cmd or recipe.verify
        _write(list(changes.values()), journal, tally, manner, desk, command, root)
    return _finish(journal.path, tally, manner, desk)


def _write(
    changes: Sequence[Change],
    journal: Journal,
    tally: Tally,
    manner: Manner,
    desk: Desk,
    command: str,
    root: Path,
) -> None:
    verify: Verify | None = shell_check(command, root) if command else None
    for event in apply(changes, allow_dirty=manner.allow_dirty, verify=verify):
        journal.add(event)
        tally.add(event)
        if manner.json:
            desk.out.write(as_json(event))
        elif event["event"] == "written":
            desk.out.write(f"{event['path']}\n")


def _finish(path: Path, tally: Tally, manner: Manner, desk: Desk) -> int:
    """Write the summary and the report; return the exit status."""
    wrote = manner.write or manner.interactive
    if manner.json:
        desk.out.write(as_json(tally.event() | {"run": path.stem}))
    for line in tally.lines():
        desk.err.write(f"{line}\n")
    if tally.files["planned"] and not wrote:
        desk.err.write(f"write it with: niello apply {path.stem}\n")
    if manner.report is not None:
        write_html(manner.report, path, tally)
    return tally.status(wrote=wrote)


def _show_diff(change: Change, desk: Desk) -> None:
    try:
        source, text = new_text(change)
    except NielloError as error:
        desk.err.write(f"{error}\n")
        return
    desk.out.writelines(diff_lines(source.text, text, change.name, desk.colours))
    desk.out.flush()


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

    def __init__(self, load: Callable[[], Filler]) -> None:
        self._load = load
        self._filler: Filler | None = None

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        if self._filler is None:
            self._filler = self._load()
        return self._filler.fill(canvases, draws, stop)
