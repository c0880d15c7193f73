"""The journal of a run: one file of JSON lines that everything else is made from.

The preview, `niello apply RUN` and `--resume` read the same lines, so a dry run and a
write cannot differ. A line is written whole or, if the process is killed, cut short;
a cut line is dropped on reading. Journals hold the user's code and are kept where only
the user can read them.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

import platformdirs

from niello.infill.errors import SettingsError

Event = dict[str, object]
"""One line: `event` names its kind; paths are as the user would write them."""

_KEPT_RUNS = 50


class Journal:
    """An open journal; what is added is on disk when ``add`` returns."""

    def __init__(self, path: Path) -> None:
        """Open ``path`` to add to it, dropping a line that was cut short."""
        self.path = path
        _drop_cut_line(path)
        self._file: TextIO = path.open("a", encoding="utf-8", newline="\n")

    def add(self, event: Event) -> None:
        """Append one event."""
        self._file.write(json.dumps(event, ensure_ascii=True) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file; the journal stays."""
        self._file.close()


def read_events(path: Path) -> Iterator[Event]:
    """Yield a journal's events one by one, so that a long one takes no memory."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if not line.endswith("\n"):
                return
            event = json.loads(line)
            if not isinstance(event, dict):
                raise SettingsError(f"{path}: not a journal of niello refactor")
            yield event


def runs_folder() -> Path:
    """Return the folder of journals: NIELLO_RUNS, or the user's state folder."""
    named = os.environ.get("NIELLO_RUNS")
    return Path(named) if named else platformdirs.user_state_path("niello") / "runs"


def new_journal_path() -> Path:
    """Make an empty journal whose name sorts by time, and forget the oldest ones."""
    folder = runs_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in sorted(folder.glob("*.jsonl"))[: -_KEPT_RUNS + 1]:
        old.unlink(missing_ok=True)
    while True:
        now = time.time_ns()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now // 10**9))
        path = folder / f"{stamp}-{now // 10**6 % 1000:03}.jsonl"
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return path


def find_journal(run: str | None) -> Path:
    """Return the journal of a run by its name or path; None means the newest."""
    if run is None:
        newest = max(runs_folder().glob("*.jsonl"), default=None)
        if newest is None:
            raise SettingsError(f"no runs in {runs_folder()}; start with a preview")
        return newest
    for path in (Path(run), runs_folder() / f"{run}.jsonl"):
        if path.is_file():
            return path
    raise SettingsError(f"no run {run!r} in {runs_folder()} (see niello apply --list)")


def text_of(event: Mapping[str, object], key: str) -> str:
    """Return a text of an event, or say that the journal is damaged."""
    value = event.get(key)
    if not isinstance(value, str):
        raise SettingsError(f"the journal has an event without {key!r}; run it anew")
    return value


def number_of(event: Mapping[str, object], key: str) -> int:
    """Return a whole number of an event, or say that the journal is damaged."""
    value = event.get(key)
    if not isinstance(value, int):
        raise SettingsError(f"the journal has an event without {key!r}; run it anew")
    return value


def _drop_cut_line(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError), path.open("r+b") as file:
        data = file.read()
        file.truncate(data.rfind(b"\n") + 1)
