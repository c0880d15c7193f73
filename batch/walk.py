"""Which files a run looks at, and for each file left out, why.

A file named on the command line is always looked at. In folders the rules of
.gitignore, .ignore, .git/info/exclude and the user's own ignore file hold, hidden
files are left out, and links are not followed, so that nothing is seen twice.
"""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec

from niello.infill.errors import SourceError

from .git import global_ignore_file, repository_of, tracked_but_ignored


class Wanted(NamedTuple):
    """What the user asked to look at."""

    globs: Sequence[str] = ()  # as in .gitignore; `!` in front leaves out
    languages: Sequence[str] = ()  # empty: all that have a grammar
    ignored: bool = False  # look at ignored files as well
    hidden: bool = False


class Found(NamedTuple):
    """A file to look at; ``named`` if the user named it and not just its folder."""

    path: Path
    language: str
    named: bool


class Skipped(NamedTuple):
    """A file or folder left out; ``notable`` if its user might not expect it."""

    path: Path
    reason: str
    notable: bool = False


class _Rules(NamedTuple):
    """The ignore rules of one file, which hold below ``folder``."""

    folder: Path
    name: str
    spec: GitIgnoreSpec


def walk(
    paths: Sequence[Path], wanted: Wanted, language_of: Callable[[Path], str | None]
) -> Iterator[Found | Skipped]:
    """Yield every file below ``paths`` in a stable order, each once."""
    globs = GitIgnoreSpec.from_lines(wanted.globs)
    needs_match = any(not glob.startswith("!") for glob in wanted.globs)
    seen: set[Path] = set()
    for top in paths:
        if not top.exists():
            raise SourceError(f"{top}: no such file or folder")
        inside = _below(top, wanted) if top.is_dir() else iter([top])
        for item in inside:
            if isinstance(item, Skipped):
                yield item
                continue
            real = item.resolve()
            if real in seen:
                continue
            seen.add(real)
            name = item.relative_to(top).as_posix() if item != top else item.name
            selected = globs.check_file(name).include
            if selected is False or (selected is None and needs_match):
                yield Skipped(item, "not selected by --glob")
                continue
            language = language_of(item)
            if language is None:
                yield Skipped(item, "no grammar for its name", notable=item == top)
            elif wanted.languages and language not in wanted.languages:
                yield Skipped(item, f"language {language}", notable=item == top)
            else:
                yield Found(item, language, named=item == top)


def _below(top: Path, wanted: Wanted) -> Iterator[Path | Skipped]:
    """Yield the files below a folder, and what the ignore rules leave out."""
    repository = repository_of(top.resolve())
    tracked: frozenset[Path] = frozenset()
    if repository and not wanted.ignored:
        # Without git the ignore rules hold all the same; only the warning is lost.
        with contextlib.suppress(SourceError):
            tracked = tracked_but_ignored(repository)
    pending = [(top, [] if wanted.ignored else _rules_above(top, repository))]
    while pending:
        folder, rules = pending.pop()
        if not wanted.ignored:
            rules = rules + _rules_in(folder)
        folders: list[Path] = []
        try:
            entries = _entries(folder)
        except OSError as error:
            if folder == top:
                raise SourceError(f"{folder}: cannot list: {error.strerror}") from error
            yield Skipped(folder, f"cannot list: {error.strerror}", notable=True)
            continue
        for name, is_folder, is_link in entries:
            path = folder / name
            if name == ".git":
                continue
            if name.startswith(".") and not wanted.hidden:
                yield Skipped(path, "hidden")
            elif is_link:
                yield Skipped(path, "a link")
            elif source := _ignored_by(path, is_folder, rules):
                yield from _left_out(path, source, tracked)
            elif is_folder:
                folders.append(path)
            else:
                yield path
        pending += [(path, rules) for path in reversed(folders)]


def _left_out(
    path: Path, source: str, tracked: frozenset[Path]
) -> Iterator[Path | Skipped]:
    """Yield one ignored path, and by name what is tracked in git all the same."""
    real = path.resolve()
    surprises = sorted(file for file in tracked if file.is_relative_to(real))
    if real not in surprises:
        yield Skipped(path, f"ignored by {source}")
    for file in surprises:
        reason = f"ignored by {source} though tracked in git (see --no-ignore)"
        yield Skipped(path / file.relative_to(real), reason, notable=True)


def _entries(folder: Path) -> list[tuple[str, bool, bool]]:
    """Return name, is folder, is link of what is in a folder; files first."""
    with os.scandir(folder) as entries:
        found = [
            (entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink())
            for entry in entries
        ]
    return sorted(found, key=lambda entry: (entry[1], entry[0]))


def _ignored_by(path: Path, is_folder: bool, rules: list[_Rules]) -> str | None:
    """Return the name of the file whose rule leaves ``path`` out; the nearest wins."""
    real = path.parent.resolve() / path.name
    for rule in reversed(rules):
        name = real.relative_to(rule.folder).as_posix() + ("/" if is_folder else "")
        include = rule.spec.check_file(name).include
        if include is not None:
            return rule.name if include else None
    return None


def _rules_above(top: Path, repository: Path | None) -> list[_Rules]:
    """Return the rules that hold in ``top`` from outside it, farthest first."""
    if repository is None:
        return []
    rules = _read(repository, global_ignore_file())
    rules += _read(repository, repository / ".git" / "info" / "exclude")
    parents = list(top.resolve().parents)
    for folder in reversed(parents):
        if folder.is_relative_to(repository):
            rules += _rules_in(folder)
    return rules


def _rules_in(folder: Path) -> list[_Rules]:
    real = folder.resolve()
    return _read(real, real / ".gitignore") + _read(real, real / ".ignore")


def _read(folder: Path, file: Path) -> list[_Rules]:
    try:
        lines = re.split(r"\r?\n", file.read_text("utf-8-sig", errors="replace"))
    except OSError:
        return []
    return [_Rules(folder, file.name, GitIgnoreSpec.from_lines(lines))]
