"""Where a run talks to its user, and what it does with its plan."""

from pathlib import Path
from typing import NamedTuple, TextIO

from .report import Colours


class Desk(NamedTuple):
    """Where a run talks to its user."""

    out: TextIO
    err: TextIO
    answers: TextIO
    colours: Colours
    progress: bool


class Manner(NamedTuple):
    """What to do with a plan; no part of the plan itself."""

    write: bool = False
    interactive: bool = False
    json: bool = False
    report: Path | None = None
    allow_dirty: bool = False
