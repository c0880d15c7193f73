"""`niello models`: fetch, list, check and remove models, with a progress bar.

Results go to standard output, progress and news to standard error.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from niello import try_command
from niello.engine.families.published import PUBLISHED, describe, hub_id_of
from niello.engine.store import ModelInfo, Say, Store
from niello.infill.errors import ModelError

Progress = Callable[[str, int, int], None]


def add_parser(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Add the `models` command; each action's `run` takes the parsed arguments."""
    parser = subparsers.add_parser("models", help="fetch, list, check, remove models")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the models known and fetched")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.add_argument(
        "--published",
        action="store_true",
        help="also the diffusion models that have a short name",
    )
    listing.set_defaults(run=_list)
    pull = actions.add_parser("pull", help="fetch a model, or go on fetching it")
    pull.add_argument("name", nargs="?", default="default", metavar="NAME")
    pull.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="PATH",
        help="take it from this file (of a checkpoint: folder), not the network",
    )
    pull.set_defaults(run=_pull)
    show = actions.add_parser("show", help="show a model and check every byte of it")
    show.add_argument("name", nargs="?", default="default", metavar="NAME")
    show.add_argument("--json", action="store_true", help="print JSON")
    show.set_defaults(run=_show)
    remove = actions.add_parser("rm", help="remove a model and what a pull has left")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(run=_remove)
    path = actions.add_parser("path", help="print the folder of a fetched model")
    path.add_argument("name", nargs="?", default="default", metavar="NAME")
    path.set_defaults(run=_path)
    try_command.add_parser(actions)


def _list(arguments: argparse.Namespace) -> int:
    models = Store().list()
    if arguments.json:
        print(json.dumps([_as_json(info) for info in models], indent=2))
        return 0
    width = max(len(info.name) for info in models)
    for info in models:
        size = _megabytes(info.n_bytes) if info.n_bytes else "-"
        print(f"{info.name:{width}}  {info.state:7}  {size:>9}  {info.title}")
    if arguments.published:
        for name in PUBLISHED:
            print(f"{name:{width}}  {describe(name)}")
    return 0


def _pull(arguments: argparse.Namespace) -> int:
    with progress_bar() as (progress, say):
        if arguments.name in PUBLISHED:
            say(describe(arguments.name))
        name = hub_id_of(arguments.name)
        path = Store().pull(name, progress, say, arguments.source)
    print(path)
    return 0


def _show(arguments: argparse.Namespace) -> int:
    with progress_bar() as (progress, _):
        info = Store().show(hub_id_of(arguments.name), progress)
    if arguments.json:
        print(json.dumps(_as_json(info), indent=2))
    else:
        for label, value in _as_json(info).items():
            if value is not None:
                print(f"{label:8} {value}")
    if info.state == "damaged":
        raise ModelError(str(info.problem))
    return 0 if info.state == "ready" else 1


def _remove(arguments: argparse.Namespace) -> int:
    Store().remove(hub_id_of(arguments.name))
    return 0


def _path(arguments: argparse.Namespace) -> int:
    with progress_bar() as (progress, say):
        path = Store().path(hub_id_of(arguments.name), progress, say)
    print(path)
    return 0


@contextmanager
def progress_bar() -> Iterator[tuple[Progress, Say]]:
    """Yield what draws a bar a step, and what says one line above the bars.

    Where standard error is no terminal a step is one line at its end, not a bar.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    bars = Bars(
        TextColumn("{task.description:12}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    steps: dict[str, Any] = {}

    def progress(step: str, done: int, total: int) -> None:
        if step not in steps:
            steps[step] = bars.add_task(step, total=total)
            if not console.is_terminal:
                print(f"{step}: {_megabytes(total)}", file=sys.stderr)
        bars.update(steps[step], completed=done, total=total)

    with bars:
        yield progress, lambda text: console.print(text, markup=False, soft_wrap=True)


def _as_json(info: ModelInfo) -> dict[str, object]:
    return {**info._asdict(), "path": str(info.path)}


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"
