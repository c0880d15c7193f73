"""The command line and composition root: parses arguments, joins the parts, exits.

Exit statuses: 0 done, 1 nothing to do or to propose, 2 an error, which is said in one
line on standard error; 130 interrupted.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from niello import fill_command, models_command, serve_command
from niello.batch import command as batch_command
from niello.bench import command as bench_command
from niello.infill.errors import NielloError

_EPILOG = """\
examples:
  niello models pull default          fetch the default model, once
  niello fill src/app.py:42           show what Niello would write in line 42
  niello fill src/app.py:42:9 --write write it
  niello refactor --marker src/       fill every TODO: fill below src/
  niello serve                        the language server, for editors
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    # Waking threads that sleep costs a tenth of a pass, those that spin for long are in
    # the way of others: they spin for a little. What a busy machine needs besides is in
    # engine/threads.py. GNU's OpenMP reads this when torch is first imported.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    argv = sys.argv[1:] if argv is None else argv
    parser = _parser()
    # A blank keeps argparse from taking the place `-:3`, of standard input, for a flag.
    words = [f" {word}" if word.startswith("-:") else word for word in argv]
    arguments = parser.parse_args(words)
    logging.basicConfig(level=logging.WARNING, format="niello: %(message)s")
    try:
        return int(arguments.run(arguments))
    except NielloError as error:
        print(f"niello: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("niello: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has gone; nothing more can be said, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="niello",
        description="Fills code between a fixed prefix and a fixed suffix.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_version())
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    fill_command.add_parsers(subparsers)
    batch_command.add_parser(subparsers)
    serve_command.add_parsers(subparsers)
    models_command.add_parser(subparsers)
    bench_command.add_parser(subparsers)
    return parser


def _version() -> str:
    try:
        return f"niello {version('niello')}"
    except PackageNotFoundError:  # a clone that was never installed
        return "niello (not installed)"
