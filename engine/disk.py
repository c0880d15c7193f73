"""Niello's folder, and what a disk can refuse: said before it does or in one line."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path

from niello.infill.errors import ModelError


def home() -> Path:
    """Return NIELLO_HOME, or the platform's cache folder."""
    named = os.environ.get("NIELLO_HOME")
    return Path(named).expanduser() if named else user_cache_path("niello")


def need_space(root: Path, name: str, needed: int) -> None:
    """Raise ModelError unless the disk of `root` has so many bytes free."""
    root.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(root).free
    if free < needed:
        raise ModelError(
            f"no space for the model {name}: {needed} bytes are needed in {root}, "
            f"{free} are free; make room or set NIELLO_HOME to a folder on another disk"
        )


@contextmanager
def disk_errors(root: Path) -> Iterator[None]:
    """Turn what the system refuses below `root` into one ModelError."""
    try:
        yield
    except OSError as error:
        where = error.filename or root
        advice = "may it be written? NIELLO_HOME can name another folder"
        if error.errno == errno.ENOSPC:
            free = shutil.disk_usage(root).free
            advice = f"{free} bytes are free; make room and run it again"
        raise ModelError(f"{where}: {error.strerror}; {advice}") from None
