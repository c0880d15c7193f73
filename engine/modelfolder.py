"""Says whether a model's folder is whole, before anything is loaded from it.

Sizes are checked each time against the weights' own header. Digests, where the folder
lists them, are checked when a file is new or has changed since they last were: which
files were found good is remembered, so that a later start reads no gigabyte twice.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from niello.engine.digest import Digests, file_digest, read_sums
from niello.engine.tensorfile import check_safetensors
from niello.infill.errors import ModelError

_AGAIN = "fetch it again (niello models pull)"

Hashed = Callable[[str, int, int], None]


def check_folder(folder: Path, memory: Path) -> None:
    """Raise ModelError unless a folder holds a whole model; `memory` saves hashing."""
    good = _recall(memory)
    _check(folder, good, lambda step, done, total: None)
    _remember(memory, good)


def verify_folder(folder: Path, memory: Path, progress: Hashed) -> None:
    """Check a folder as `check_folder` does, reading every byte again."""
    good = _recall(memory)
    for path in folder.iterdir():
        good.pop(str(path.resolve()), None)
    try:
        _check(folder, good, progress)
    finally:
        _remember(memory, good)


def put_in_place(scratch: Path, folder: Path) -> None:
    """Give a finished folder its name; one of that name before it goes last."""
    old = scratch.with_name(scratch.name + ".part")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    scratch.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def made_from(folder: Path) -> Digests | None:
    """Return what a converted folder says it was made from."""
    try:
        made = json.loads((folder / "config.json").read_bytes())["niello"]
        return Digests(made["source_digest"], made["adapter_digest"], made["format"])
    except (ValueError, KeyError, TypeError):
        return None


def title_of(folder: Path) -> str:
    """Return what a checkpoint is, in a few words."""
    try:
        kind = json.loads((folder / "config.json").read_bytes())["model_type"]
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown model"
    return f"{kind} checkpoint"


def size_of(path: Path) -> int:
    """Return the bytes of a file or of all files below a folder."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size if path.exists() else 0


def _check(folder: Path, good: dict[str, list[object]], progress: Hashed) -> None:
    sums = read_sums(folder)
    total = sum(size_of(folder / name) for name in sums)
    before = 0
    for name, expected in sums.items():
        path = folder / name
        if not path.is_file():
            raise ModelError(f"{path} is missing; {_AGAIN}")
        # Taken before the file is read: if it changes meanwhile it is read once more.
        fact = [*_stamp(path), expected]
        key = str(path.resolve())
        if good.get(key) != fact:
            actual = file_digest(path, _after(before, total, progress))
            if actual != expected:
                raise ModelError(
                    f"{path} is damaged: its SHA-256 digest is {actual}, expected "
                    f"{expected}; {_AGAIN}"
                )
            good[key] = fact
        before += size_of(path)
    _check_weights(folder)
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise ModelError(f"{folder / name} is missing; {_AGAIN}")


def _after(before: int, total: int, progress: Hashed) -> Callable[[int], None]:
    return lambda done: progress("Verifying", before + done, total)


def _check_weights(folder: Path) -> None:
    weights = sorted(folder.glob("*.safetensors"))
    index = folder / "model.safetensors.index.json"
    try:
        shards = json.loads(index.read_bytes())["weight_map"] if index.exists() else {}
    except (ValueError, KeyError, TypeError):
        raise ModelError(f"{index} is damaged; {_AGAIN}") from None
    for name in sorted(set(shards.values())):
        if folder / name not in weights:
            raise ModelError(f"{folder / name} is missing; {_AGAIN}")
    if not weights:
        raise ModelError(
            f"{folder} holds no *.safetensors weights (pickled weights are never read)"
        )
    for path in weights:
        check_safetensors(path)


def _stamp(path: Path) -> tuple[int, int, int]:
    """Return what changes with a file's content; the last cannot be set by hand."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _recall(memory: Path) -> dict[str, list[object]]:
    try:
        good = json.loads(memory.read_bytes())
    except (OSError, ValueError):
        return {}
    return good if isinstance(good, dict) else {}


def _remember(memory: Path, good: dict[str, list[object]]) -> None:
    if good == _recall(memory):
        return
    # In a cache that cannot be written, digests are computed again at each start.
    scratch = memory.with_name(f"{memory.name}.{os.getpid()}.part")
    try:
        scratch.write_text(json.dumps(good, indent=1), encoding="utf-8")
        scratch.replace(memory)
    except OSError:
        scratch.unlink(missing_ok=True)
