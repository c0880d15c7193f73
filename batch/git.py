"""What git knows of files: which are tracked though ignored, which have changes.

Only reads, and takes no locks: a run must not disturb a commit under way.
"""

import os
import subprocess
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from niello.infill.errors import SourceError

HAS_CHANGES = "has uncommitted changes (see --allow-dirty)"
"""Why a file is refused that `with_changes` names."""


@lru_cache(maxsize=4096)
def repository_of(folder: Path) -> Path | None:
    """Return the top folder of the repository that holds ``folder``, if one does."""
    if (folder / ".git").exists():
        return folder
    return repository_of(folder.parent) if folder != folder.parent else None


def tracked_but_ignored(repository: Path) -> frozenset[Path]:
    """Return the files an ignore rule matches although they are tracked."""
    return _listed(repository, "ls-files", "-ci", "--exclude-standard", "-z")


def with_changes(paths: Iterable[Path]) -> frozenset[Path]:
    """Return those of ``paths`` that are tracked and differ from the last commit."""
    wanted = {path.resolve(): path for path in paths}
    repositories = {repository_of(real.parent) for real in wanted} - {None}
    changed: set[Path] = set()
    for repository in repositories:
        assert repository is not None
        # Staged and unstaged changes both count; untracked files do not.
        difference = ["diff", "--name-only", "--no-relative", "--no-ext-diff", "-z"]
        changed |= _listed(repository, *difference)
        changed |= _listed(repository, *difference, "--cached")
    return frozenset(wanted[real] for real in wanted.keys() & changed)


def global_ignore_file() -> Path:
    """Return the user's own ignore file, whether or not it exists."""
    named = _git(Path.cwd(), "config", "--path", "core.excludesFile").stdout.strip()
    if named:
        return Path(os.fsdecode(named))
    settings = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(settings) / "git" / "ignore"


def _listed(repository: Path, *arguments: str) -> frozenset[Path]:
    answer = _git(repository, *arguments)
    if answer.returncode:
        reason = os.fsdecode(answer.stderr).strip().partition("\n")[0]
        raise SourceError(
            f"{repository}: git cannot tell its state: {reason} (see --allow-dirty)"
        )
    names = answer.stdout.split(b"\0")
    return frozenset(repository.resolve() / os.fsdecode(name) for name in names if name)


def _git(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    command = ["git", "-c", "core.fsmonitor=", "-C", str(folder), *arguments]
    environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(
            command, capture_output=True, env=environment, check=False
        )
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, b"", os.fsencode(str(error)))
