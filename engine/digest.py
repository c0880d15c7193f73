"""Digests of model files, and the list of them that a model's folder carries.

The list is called `SHA256SUMS` and has the form that `sha256sum -c` reads.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from niello.infill.errors import ModelError

FORMAT = 1
"""The form of a converted folder; raised when its content changes."""

SUMS = "SHA256SUMS"
_CHUNK = 4 * 1024 * 1024


class Digests(NamedTuple):
    """What a converted folder was made from; a change of any makes it anew."""

    source: str
    adapter: str
    format: int


def file_digest(path: Path, hashed: Callable[[int], None] = lambda done: None) -> str:
    """Return the SHA-256 digest of a file as hexadecimal digits."""
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            done += len(chunk)
            hashed(done)
    return digest.hexdigest()


def write_sums(folder: Path, known: Mapping[str, str]) -> None:
    """Write the digests of all files of a folder; those known are not read again."""
    sums = dict(known)
    for path in sorted(folder.iterdir()):
        if path.name not in sums and path.name != SUMS:
            sums[path.name] = file_digest(path)
    lines = [f"{digest}  {name}\n" for name, digest in sorted(sums.items())]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def read_sums(folder: Path) -> dict[str, str]:
    """Return the digests that a folder's list gives by file name; empty without one."""
    path = folder / SUMS
    if not path.is_file():
        return {}
    sums = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        match = re.fullmatch(r"([0-9a-fA-F]{64}) [ *](.+)", line)
        if match is None or Path(match[2]).name != match[2]:
            raise ModelError(f"{path} is damaged: {line[:80]!r} is no digest and name")
        sums[match[2]] = match[1].lower()
    return sums
