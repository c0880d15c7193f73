"""Fetches a published safetensors checkpoint: its weights, facts and tokenizer.

Only plain data is taken: no pickles, no code. Files that are whole are kept when a
fetch is interrupted, the one under way goes on where it stopped.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from niello.engine.digest import read_sums, write_sums
from niello.engine.download import (
    Progress,
    Wanted,
    copy_file,
    fetch_from_hub,
    finish,
    list_hub,
    part_of,
)
from niello.engine.modelfolder import check_folder, put_in_place, size_of
from niello.infill.errors import ModelError, RemoteError

_SUFFIXES = (".json", ".safetensors", ".txt")


def fetch_checkpoint(
    hub_id: str,
    folder: Path,
    need: Callable[[int], None],
    progress: Progress,
    source: Path | None,
) -> None:
    """Make `folder` hold the checkpoint, from the hub or from a local folder."""
    scratch = part_of(folder)
    try:
        listed = _list_folder(source) if source else list_hub(hub_id)
        wanted = _readable(hub_id, listed)
        total = sum(file.n_bytes for file in wanted)
        need(total - size_of(scratch))
        scratch.mkdir(parents=True, exist_ok=True)
        before = 0
        for file in wanted:
            part_progress = _after(before, total, progress)
            _take(hub_id, file, scratch / file.name, part_progress, source)
            before += file.n_bytes
    except RemoteError as error:
        raise ModelError(
            f"cannot fetch {hub_id} ({error}); check the network, or give a folder "
            f"that holds it: niello models pull {hub_id} --from FOLDER"
        ) from None
    write_sums(scratch, {file.name: file.digest for file in wanted if file.digest})
    check_folder(scratch, scratch / "checked.json.part")
    (scratch / "checked.json.part").unlink(missing_ok=True)
    put_in_place(scratch, folder)


def _take(
    hub_id: str, file: Wanted, target: Path, progress: Progress, source: Path | None
) -> None:
    if target.is_file() and target.stat().st_size == file.n_bytes:
        return
    if source:
        copy_file(source / file.name, file, target, progress)
    else:
        fetch_from_hub(hub_id, file, target, progress)
    finish(file, target, progress)


def _after(before: int, total: int, progress: Progress) -> Progress:
    return lambda step, done, _: progress(step, before + done, total)


def _readable(hub_id: str, files: Sequence[Wanted]) -> list[Wanted]:
    """Keep the files Niello reads; of weights published twice, the standard ones."""
    chosen = [
        file
        for file in files
        if file.name.endswith(_SUFFIXES) and Path(file.name).name == file.name
    ]
    weights = [file for file in chosen if file.name.endswith(".safetensors")]
    if not weights:
        raise ModelError(
            f"{hub_id} offers no *.safetensors weights (pickled weights are never read)"
        )
    standard = [file for file in weights if file.name.startswith("model")]
    dropped = set(weights) - set(standard or weights)
    return [file for file in chosen if file not in dropped]


def _list_folder(source: Path) -> list[Wanted]:
    if not source.is_dir():
        raise ModelError(f"{source} is no folder; give the folder of a checkpoint")
    sums = read_sums(source)
    return [
        Wanted(path.name, path.stat().st_size, sums.get(path.name))
        for path in sorted(source.iterdir())
        if path.is_file()
    ]
