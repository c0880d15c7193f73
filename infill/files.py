"""A user's file as a value, and the one function that replaces it.

Whatever is written goes to a temporary neighbour first and takes the file's place in
one rename, so at any moment the file is whole, old or new. Mode, owner, extended
attributes, symbolic links, byte-order mark, encoding and line endings stay. What cannot
be kept (several hard links, another owner, a read-only file) is refused, never lost.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .errors import SourceError

MAX_BYTES = 1_000_000
"""Larger files are generated more often than written; parsing them takes seconds."""

# The marks are told apart by their first bytes, so their order does not matter.
_BOMS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}
_PART_PREFIX, _PART_SUFFIX = ".niello-", ".part"


class Source(NamedTuple):
    """A file that was read; ``text`` keeps its line endings and has no BOM."""

    path: Path  # as the user named it, links not resolved
    text: str
    encoding: str
    bom: bytes
    digest: str  # sha256 of the file's bytes


def read_source(path: Path, max_bytes: int = MAX_BYTES) -> Source:
    """Read a text file, or say in a SourceError why it cannot be handled."""
    with _translated(path, "read"):
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(f"{path}: not a regular file")
        if status.st_size > max_bytes:
            raise SourceError(
                f"{path}: too large ({status.st_size:,} bytes, limit {max_bytes:,})"
            )
        data = path.read_bytes()
    return decode_source(path, data)


def decode_source(path: Path, data: bytes) -> Source:
    """Decode a file's bytes; nothing is guessed, so encoding gives them back."""
    bom = next((bom for bom in _BOMS if data.startswith(bom)), b"")
    encoding = _BOMS.get(bom, "utf-8")
    try:
        text = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError as error:
        if b"\0" in data:
            raise SourceError(f"{path}: binary") from None
        at = len(bom) + error.start
        line = data.count(b"\n", 0, at) + 1
        raise SourceError(
            f"{path}: not {encoding.upper()} (byte {data[at]:#04x} in line {line})"
        ) from None
    if "\0" in text:
        raise SourceError(f"{path}: binary")
    return Source(path, text, encoding, bom, digest_of(data))


def write_source(source: Source, text: str) -> Source:
    """Replace the file by ``text`` in one step, if it still is what was read.

    Raises SourceError and leaves the old file and nothing else if that cannot be done.
    """
    try:
        data = source.bom + text.encode(source.encoding)
    except UnicodeEncodeError as error:
        raise SourceError(
            f"{source.path}: cannot encode the new text: {error}"
        ) from None
    check_writable(source.path)
    with _translated(source.path, "write"):
        # A link stays a link: its target is what gets replaced.
        target = source.path.resolve(strict=True)
        part = _write_part(target, data)
        try:
            if digest_of(target.read_bytes()) != source.digest:
                raise SourceError(f"{source.path}: changed on disk since it was read")
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    return source._replace(text=text, digest=digest_of(data))


def check_writable(path: Path) -> None:
    """Raise SourceError if the file could not be replaced without losing something."""
    with _translated(path, "write"):
        target = path.resolve(strict=True)
        status = target.stat()
        # Mode bits count even for root, who could write: their owner meant them.
        if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
            raise SourceError(f"{path}: read-only")
        if status.st_nlink > 1:
            raise SourceError(
                f"{path}: has {status.st_nlink} hard links, which a replacement would "
                "cut; make a copy of its own first"
            )
        if not os.access(target.parent, os.W_OK):
            raise SourceError(f"{path}: its folder is read-only")


def sweep_parts(folder: Path) -> None:
    """Remove temporary neighbours that a killed writer left in ``folder``.

    A writer still at work in there fails cleanly: its rename finds nothing to rename.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith(_PART_PREFIX) and name.endswith(_PART_SUFFIX):
                os.unlink(entry.path)


def _write_part(target: Path, data: bytes) -> Path:
    """Write ``data`` beside ``target`` with the target's mode, owner and attributes."""
    descriptor, name = tempfile.mkstemp(_PART_SUFFIX, _PART_PREFIX, target.parent)
    part = Path(name)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            _keep_owner(descriptor, target)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        shutil.copystat(target, part)
        os.utime(part)  # The content is new, and build tools go by the time.
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return part


def _keep_owner(descriptor: int, target: Path) -> None:
    if not hasattr(os, "fchown"):
        return
    wanted, got = target.stat(), os.fstat(descriptor)
    if (wanted.st_uid, wanted.st_gid) != (got.st_uid, got.st_gid):
        os.fchown(descriptor, wanted.st_uid, wanted.st_gid)


def _sync_folder(folder: Path) -> None:
    """Make the rename last through a power cut, where folders can be synced."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def _translated(path: Path, verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(f"{path}: cannot {verb}: {reason}") from error


def digest_of(data: bytes) -> str:
    """Return the digest that a Source keeps of its file's bytes."""
    return hashlib.sha256(data).hexdigest()
