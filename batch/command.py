"""`niello refactor` and `niello apply`: the command line of batch refactoring.

Imports what a command needs when it runs, so that `niello --help` stays quick.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from niello.infill.canvas import Filler
from niello.infill.errors import SettingsError

if TYPE_CHECKING:
    from .desk import Desk, Manner
    from .options import RefactorOptions

_EXAMPLES = """\
examples:
  niello refactor src --pattern 'requests.get($URL)' \\
      --rewrite 'requests.get($URL, timeout=⟦⟧)'
  niello refactor src --select function.inner --name '^test_' --list
  niello refactor src --recipe write-docstrings -i

exit status: 0 nothing to do or all written, 1 there are changes to write,
             2 an error, 3 some targets failed their gates
"""


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `refactor` and `apply` to the commands of niello."""
    refactor = subparsers.add_parser(
        "refactor",
        help="search and replace by structure; the model fills the holes",
        description="Find places by structure and let the model write there. Shows a "
        "diff and writes nothing unless told to.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_targets(refactor)
    _add_files(refactor)
    _add_gates(refactor)
    _add_manner(refactor)
    refactor.set_defaults(run=run_refactor)
    apply = subparsers.add_parser(
        "apply",
        help="write what an earlier niello refactor showed",
        description="Write what an earlier run planned, exactly as it was shown.",
    )
    apply.add_argument("name", nargs="?", metavar="RUN", help="default: the newest run")
    apply.add_argument("--list", action="store_true", help="list the runs kept")
    apply.add_argument("--allow-dirty", action="store_true", help=_DIRTY)
    apply.add_argument("--verify-cmd", metavar="CMD", help=_VERIFY)
    apply.add_argument("--json", action="store_true", help="print events as JSON lines")
    apply.add_argument("--report", type=_new_file, metavar="FILE.html")
    apply.set_defaults(run=run_apply)


_DIRTY = "also write files with uncommitted changes"
_VERIFY = "shell command that must succeed; files it fails with are rolled back"


def _add_targets(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="default: this folder")
    group = parser.add_argument_group("where to write (one of these)")
    group.add_argument("--pattern", help="code with metavariables, as in ast-grep")
    group.add_argument("--query", help="tree-sitter query; @fill is replaced")
    group.add_argument("--query-file", metavar="FILE")
    group.add_argument("--select", metavar="OBJECT", help="such as function.inner")
    group.add_argument(
        "--marker", action="store_true", help="# FILL, TODO: fill, ⟦⟧ ..."
    )
    group.add_argument(
        "--marker-text", action="append", default=[], metavar="TEXT", help="your own"
    )
    group.add_argument("--at", action="append", default=[], metavar="PATH:L:C-L:C")
    group.add_argument(
        "--recipe", metavar="NAME|FILE.toml", help="default: ./niello.refactor.toml"
    )
    group.add_argument(
        "--recipes", action="store_true", help="list the shipped recipes"
    )
    group = parser.add_argument_group("what to write")
    group.add_argument(
        "--rewrite",
        default="",
        metavar="TEMPLATE",
        help="fixed text with $METAVARIABLES and holes, ⟦⟧ or ⟦name⟧; "
        "default: one hole in place of the target",
    )
    group.add_argument(
        "--name", default="", metavar="REGEX", help="only targets so named"
    )
    group.add_argument(
        "--unless", default="", metavar="REGEX", help="not if it has this"
    )
    group.add_argument("--limit", type=_count, metavar="N", help="at most N targets")


def _add_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files")
    group.add_argument("--glob", action="append", default=[], metavar="GLOB")
    group.add_argument("--lang", action="append", default=[], metavar="LANGUAGE")
    group.add_argument("--no-ignore", action="store_true", help="ignored files as well")
    group.add_argument("--hidden", action="store_true", help="hidden files as well")
    group.add_argument("--max-bytes", type=_count, default=1_000_000, metavar="N")


def _add_gates(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model and gates")
    group.add_argument("--model", default="default", metavar="NAME|PATH")
    group.add_argument("--seed", type=int, default=0, metavar="N")
    group.add_argument("--jobs", type=_count, metavar="N", help="width of a batch")
    group.add_argument(
        "--room", type=_count, default=256, metavar="N", help="tokens a hole"
    )
    group.add_argument("--max-tries", type=int, metavar="N", help="default: 3")
    group.add_argument("--min-confidence", type=float, metavar="P", help="0 to 1")
    group.add_argument("--verify-cmd", metavar="CMD", help=_VERIFY)


def _add_manner(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to do")
    group.add_argument("--list", action="store_true", help="print the targets only")
    group.add_argument("--test", action="store_true", help="run the recipe's own tests")
    group.add_argument("--write", action="store_true", help="write the changes")
    group.add_argument("-i", "--interactive", action="store_true", help="ask for each")
    group.add_argument("--json", action="store_true", help="print events as JSON lines")
    group.add_argument("--report", type=_new_file, metavar="FILE.html")
    group.add_argument("--resume", metavar="RUN", help="go on with a run, or `last`")
    group.add_argument("--allow-dirty", action="store_true", help=_DIRTY)
    group.add_argument("--no-progress", action="store_true")


def _new_file(text: str) -> Path:
    """Refuse a place where nothing could be written, before any work is done for it."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        wrong = "is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise argparse.ArgumentTypeError(f"{path}: {wrong}")
    return path


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return int(text)


def run_refactor(arguments: argparse.Namespace) -> int:
    """Run `niello refactor`."""
    from . import listing, run
    from .recipe import shipped_recipes

    desk = _desk(progress=not arguments.no_progress)
    manner = _manner(arguments)
    options = _options(arguments)
    if arguments.recipes:
        for recipe in shipped_recipes():
            desk.out.write(f"{recipe.name:20} {recipe.about}\n")
        return 0
    if manner.interactive and manner.json:
        raise SettingsError("-i and --json do not go together")
    if arguments.resume is not None:
        _refuse_options(options)
        name = None if arguments.resume == "last" else str(arguments.resume)
        verify_cmd = options.verify_cmd
        return run.resume(name, manner, desk, load_engine, verify_cmd=verify_cmd)
    if arguments.test:
        return run.test_recipe(options, desk)
    if arguments.list:
        return listing.list_targets(options, manner, desk)
    return run.refactor(options, manner, desk, load_engine)


def run_apply(arguments: argparse.Namespace) -> int:
    """Run `niello apply`."""
    from . import journal, run
    from .desk import Manner

    desk = _desk(progress=False)
    manner = Manner(
        write=True,
        json=arguments.json,
        report=arguments.report,
        allow_dirty=arguments.allow_dirty,
    )
    if arguments.list:
        for path in sorted(journal.runs_folder().glob("*.jsonl")):
            first = next(journal.read_events(path), {})
            desk.out.write(f"{path.stem}  {first.get('root', '')}\n")
        return 0
    path = journal.find_journal(arguments.name)
    return run.apply_run(path, manner, desk, verify_cmd=arguments.verify_cmd)


def load_engine(model: str) -> Filler:
    """Load a model by the name the user gave."""
    from niello.engine.opening import open_filler

    return open_filler(model)


def _options(arguments: argparse.Namespace) -> "RefactorOptions":
    from dataclasses import fields

    from .options import RefactorOptions

    given = vars(arguments)
    return RefactorOptions(**{f.name: given[f.name] for f in fields(RefactorOptions)})


def _refuse_options(options: "RefactorOptions") -> None:
    """Raise if a run that goes on is given options that it has its own of."""
    usual = type(options)(verify_cmd=options.verify_cmd).to_json()
    own = options.to_json()
    given = [name for name, value in own.items() if value != usual[name]]
    if given:
        names = ", ".join(
            "PATH" if name == "paths" else f"--{name.replace('_', '-')}"
            for name in given
        )
        raise SettingsError(
            f"--resume keeps the targets and options of its run; leave out {names}, or"
            " start a new run"
        )


def _manner(arguments: argparse.Namespace) -> "Manner":
    from .desk import Manner

    return Manner(
        write=arguments.write,
        interactive=arguments.interactive,
        json=arguments.json,
        report=arguments.report,
        allow_dirty=arguments.allow_dirty,
    )


def _desk(*, progress: bool) -> "Desk":
    """Return the user's terminal; colours only where they are wanted."""
    from .desk import Desk
    from .report import ANSI, Colours

    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its number, not a traceback.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return Desk(
        out=sys.stdout,
        err=sys.stderr,
        answers=sys.stdin,
        colours=ANSI if coloured else Colours(),
        progress=progress and sys.stderr.isatty(),
    )
