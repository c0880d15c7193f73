"""Where models live on this machine: find, fetch, list, check and remove them.

    ROOT/models/NAME/     a model ready to be mapped into memory
    ROOT/sources/FILE     the file it was converted from, kept for the next adapter
    ROOT/checked.json     which files were found good (modelfolder.py)

A folder in models/ is whole or not there: it is made under another name and renamed.
What is here is used without a look-up anywhere. Torch is not needed and not imported.
"""

import logging
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from niello.engine.checkpoint import fetch_checkpoint
from niello.engine.digest import FORMAT, Digests, file_digest
from niello.engine.disk import disk_errors, home, need_space
from niello.engine.download import Progress, part_of, wheel_folder
from niello.engine.known import KNOWN, KnownModel
from niello.engine.lock import alone
from niello.engine.modelfolder import (
    check_folder,
    made_from,
    put_in_place,
    size_of,
    title_of,
    verify_folder,
)
from niello.engine.sources import fetch_file
from niello.infill.errors import ModelError

logger = logging.getLogger(__name__)

Say = Callable[[str], None]

_HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def _silent(step: str, done: int, total: int) -> None:
    """Show no progress."""


class ModelInfo(NamedTuple):
    """A model as `niello models` shows it.

    `state` is ready, damaged, partial or absent; `problem` says what is damaged.
    """

    name: str
    title: str
    license: str
    origin: str
    state: str
    path: Path
    n_bytes: int
    problem: str | None = None


class Store:
    """The models of this machine, below one folder."""

    def __init__(
        self,
        root: Path | None = None,
        known: Mapping[str, KnownModel] = KNOWN,
        adapters: Path | None = None,
    ) -> None:
        """Use `root`, or NIELLO_HOME, or the platform's cache folder."""
        self.root = root or home()
        self._known = known
        self._adapters = adapters or Path(str(files("niello.engine") / "weights"))

    def path(
        self, name: str, progress: Progress = _silent, say: Say = logger.info
    ) -> Path:
        """Return a model's folder after checking it; look nothing up anywhere.

        A known model whose adapter has changed since is converted again from its kept
        source, which takes about twenty seconds.
        """
        folder = self._folder(name)
        with disk_errors(self.root):
            if not folder.is_dir():
                raise self._missing(name)
            check_folder(folder, self._memory)
        known = self._known.get(name)
        if known and made_from(folder) != self._wanted_from(known):
            if not self._source(known).is_file():
                raise ModelError(
                    f"the model {name} was made for another version of Niello; "
                    f"fetch it again: niello models pull {name}"
                )
            say(f"the fill adapter has changed: converting the model {name} again")
            return self.pull(name, progress, say)
        return folder

    def pull(
        self,
        name: str,
        progress: Progress = _silent,
        say: Say = logger.info,
        source: Path | None = None,
    ) -> Path:
        """Fetch and convert a model unless it is here and whole; return its folder.

        `source` is a local file (of a checkpoint: a folder) to take it from. What was
        fetched before an interruption is kept, and the next pull goes on from there.
        """
        folder = self._folder(name)
        if folder.parent != self._models:
            if not folder.is_dir():
                raise self._missing(name)
            verify_folder(folder, self._memory, progress)
            return folder
        with disk_errors(self.root), self._alone(name, say):
            if not self._is_whole(name, folder, progress, say):
                known = self._known.get(name)
                if known is None:
                    need = partial(need_space, self.root, name)
                    fetch_checkpoint(name, folder, need, progress, source)
                else:
                    self._fetch(known, progress, say, source)
                    self._convert(known, folder, progress)
                verify_folder(folder, self._memory, progress)
        return folder

    def list(self) -> Sequence[ModelInfo]:
        """Return the known models and all others that are here."""
        own = sorted(
            path.name.split(".part")[0].replace("--", "/", 1)
            for path in self._models.glob("*")
        )
        return [self._info(name) for name in dict.fromkeys([*self._known, *own])]

    def show(self, name: str, progress: Progress = _silent) -> ModelInfo:
        """Return what is known of a model, with every byte of it checked."""
        info = self._info(name)
        if info.state != "ready":
            return info
        try:
            with disk_errors(self.root):
                verify_folder(info.path, self._memory, progress)
        except ModelError as error:
            return info._replace(state="damaged", problem=str(error))
        return info

    def remove(self, name: str) -> None:
        """Remove a model, its source and whatever an interrupted pull has left."""
        folder = self._folder(name)
        if folder.parent != self._models:
            raise ModelError(f"{name} is not in {self.root}; remove it by hand")
        traces = self._traces(name, folder)
        if not traces:
            raise ModelError(f"the model {name} is not here")
        with disk_errors(self.root), self._alone(name, logger.info):
            for path in traces:
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)

    def _fetch(
        self, known: KnownModel, progress: Progress, say: Say, source: Path | None
    ) -> None:
        """Have the file that a known model is converted from, and that it is right."""
        target = self._source(known)
        if target.is_file():
            # A file from an earlier pull is proved again like one just fetched.
            target.replace(part_of(target))
        target.parent.mkdir(parents=True, exist_ok=True)
        rest = known.n_bytes - size_of(part_of(target))
        need_space(self.root, known.name, rest + known.room)
        fetch_file(known, target, progress, say, source)

    def _convert(self, known: KnownModel, folder: Path, progress: Progress) -> None:
        from niello.engine.convert import convert

        scratch = part_of(folder)
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        try:
            convert(
                self._source(known),
                self._adapters / known.adapter if known.adapter else None,
                scratch,
                self._wanted_from(known),
                lambda done, total: progress("Converting", done, total),
            )
            put_in_place(scratch, folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _folder(self, name: str) -> Path:
        """Return where a model lies: in the store, or a folder of the user's."""
        own = self._models / name.replace("/", "--")
        if name in self._known:
            return own
        if _HUB_ID.fullmatch(name) and (own.is_dir() or not Path(name).is_dir()):
            return own
        return Path(name).expanduser()

    @property
    def _models(self) -> Path:
        return self.root / "models"

    @property
    def _memory(self) -> Path:
        return self.root / "checked.json"

    def _source(self, known: KnownModel) -> Path:
        return self.root / "sources" / known.file

    def _wanted_from(self, known: KnownModel) -> Digests:
        path = self._adapters / known.adapter if known.adapter else None
        return Digests(known.digest, file_digest(path) if path else "", FORMAT)

    def _missing(self, name: str) -> ModelError:
        if name in self._known or _HUB_ID.fullmatch(name):
            return ModelError(
                f"the model {name} is not here; fetch it: niello models pull {name}"
            )
        if Path(name).is_file():
            return ModelError(
                f"{name} is a file; if it is that of the model default, take it with: "
                f"niello models pull default --from {name}"
            )
        return ModelError(
            f"there is no model or folder {name}; name one of "
            f"{', '.join(self._known)}, a hub checkpoint OWNER/NAME, or a folder"
        )

    def _is_whole(self, name: str, folder: Path, progress: Progress, say: Say) -> bool:
        if not folder.is_dir():
            return False
        try:
            verify_folder(folder, self._memory, progress)
        except ModelError as error:
            say(f"{error}")
            return False
        known = self._known.get(name)
        return known is None or made_from(folder) == self._wanted_from(known)

    def _traces(self, name: str, folder: Path) -> Sequence[Path]:
        paths = [folder, part_of(folder)]
        known = self._known.get(name)
        if known and not self._is_needed_by_another(known):
            source = self._source(known)
            paths += [source, part_of(source), wheel_folder(part_of(source))]
        return [path for path in paths if path.exists()]

    def _is_needed_by_another(self, known: KnownModel) -> bool:
        return any(
            other.file == known.file and self._folder(other.name).is_dir()
            for other in self._known.values()
            if other.name != known.name
        )

    def _info(self, name: str) -> ModelInfo:
        folder = self._folder(name)
        known = self._known.get(name)
        traces = self._traces(name, folder)
        if not traces and not known:
            raise self._missing(name)
        state = "ready" if folder.is_dir() else "partial" if traces else "absent"
        return ModelInfo(
            name=name,
            title=known.title if known else title_of(folder),
            license=known.license if known else "see its publisher",
            origin=known.hub_id if known else name,
            state=state,
            path=folder,
            n_bytes=sum(size_of(path) for path in traces),
        )

    def _alone(self, name: str, say: Say) -> AbstractContextManager[None]:
        # Models made from one file wait for each other: they share its part.
        known = self._known.get(name)
        key = known.file if known else name.replace("/", "--")
        return alone(
            self.root / "locks" / f"{key}.lock",
            lambda: say(f"another process is fetching the model {name}; waiting"),
        )
