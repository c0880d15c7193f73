"""Writing what a journal holds, and taking back what does not pass its check.

Every file is compared with the digest it was planned from, so applying twice, or going
on after a kill, writes each file once: it holds the old text, the new text, or what its
user wrote since, which is left alone.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from niello.infill.errors import SettingsError, SourceError
from niello.infill.files import (
    Source,
    read_source,
    sweep_parts,
    write_source,
)

from .edits import Edit, apply_steps, from_json, undo_steps
from .git import HAS_CHANGES, with_changes
from .journal import Event, text_of

Verify = Callable[[], bool]
"""Tells whether the files as they now stand are good."""


class Change(NamedTuple):
    """What a run does to one file."""

    name: str  # the path as the user wrote it
    path: Path
    digest: str  # of the file before
    new_digest: str
    steps: list[list[Edit]]


def change_of(event: Event, root: Path) -> Change:
    """Return the change that a journal's file event describes."""
    name = text_of(event, "path")
    return Change(
        name,
        root / name,
        text_of(event, "sha256"),
        text_of(event, "new_sha256"),
        from_json(event),
    )


def new_text(change: Change) -> tuple[Source, str]:
    """Return a file as it was planned from and the text it is to have."""
    source = read_source(change.path)
    if source.digest == change.new_digest:
        source = source._replace(text=undo_steps(source.text, change.steps))
    elif source.digest != change.digest:
        raise SourceError(f"{change.path}: changed on disk since it was planned")
    return source, apply_steps(source.text, change.steps)


def apply(
    changes: Sequence[Change], *, allow_dirty: bool, verify: Verify | None
) -> Iterator[Event]:
    """Write all changes; yield one event a file: written, refused or rolled back."""
    for folder in {change.path.resolve().parent for change in changes}:
        sweep_parts(folder)
    dirty = frozenset() if allow_dirty else _dirty(changes)
    clean = []
    for change in changes:
        if change.path in dirty:
            yield _event("refused", change, HAS_CHANGES)
        else:
            clean.append(change)
    if verify is None:
        for change in clean:
            yield _write(change)
    else:
        yield from _apply_verified(clean, verify)


def _apply_verified(changes: list[Change], verify: Verify) -> Iterator[Event]:
    """Start from the old files, so that a broken-off check leaves no doubtful ones."""
    ready = []
    for change in changes:
        try:
            _take_back(change)
            ready.append(change)
        except SourceError as error:
            yield _event("refused", change, str(error))
    if ready and not verify():
        raise SettingsError(
            "--verify-cmd fails before anything is written; mend that first"
        )
    yield from _bisect(ready, verify)


def _bisect(changes: list[Change], verify: Verify) -> Iterator[Event]:
    """Keep the files with which the check passes: all, or by halves down to one."""
    if not changes:
        return
    events = [_write(change) for change in changes]
    if verify():
        yield from events
        return
    for change in changes:
        _take_back(change)
    if len(changes) == 1:
        yield _event("rolled back", changes[0], "the verify command fails with it")
        return
    middle = len(changes) // 2
    yield from _bisect(changes[:middle], verify)
    yield from _bisect(changes[middle:], verify)


def _write(change: Change) -> Event:
    try:
        source, text = new_text(change)
        if source.digest != change.new_digest:
            write_source(source, text)
    except SourceError as error:
        return _event("refused", change, str(error))
    return _event("written", change, "")


def _take_back(change: Change) -> None:
    source = read_source(change.path)
    if source.digest == change.new_digest:
        write_source(source, undo_steps(source.text, change.steps))


def _dirty(changes: Sequence[Change]) -> frozenset[Path]:
    """Return the files with changes of their user's; a run's own are none."""
    found = with_changes([change.path for change in changes])
    return frozenset(
        change.path
        for change in changes
        if change.path in found and not _already_written(change)
    )


def _already_written(change: Change) -> bool:
    try:
        return read_source(change.path).digest == change.new_digest
    except SourceError:
        return False


def shell_check(command: str, folder: Path) -> Verify:
    """Return a check that runs a shell command in ``folder``; status 0 is good."""

    def verify() -> bool:
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            check=False,
        )
        return done.returncode == 0

    return verify


def _event(kind: str, change: Change, reason: str) -> Event:
    reason = reason.removeprefix(f"{change.path}: ")
    return {"event": kind, "path": change.name, "reason": reason}
