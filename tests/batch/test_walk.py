"""Which files are looked at, and what is said of the others."""

import os
import subprocess
from pathlib import Path

import pytest

from niello.batch.walk import Found, Skipped, Wanted, walk
from niello.infill.errors import SourceError


def python(path: Path) -> str | None:
    return "python" if path.suffix == ".py" else None


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")


def found(*paths: str, wanted: Wanted | None = None) -> list[str]:
    items = walk([Path(path) for path in paths], wanted or Wanted(), python)
    return [str(item.path) for item in items if isinstance(item, Found)]


def skipped(*paths: str, wanted: Wanted | None = None) -> dict[str, str]:
    items = walk([Path(path) for path in paths], wanted or Wanted(), python)
    return {str(i.path): i.reason for i in items if isinstance(i, Skipped)}


def test_files_come_in_a_stable_order_each_once(project: Path) -> None:
    make(project, "b.py", "a.py", "z/c.py", "y/d.py")
    assert found(".", "a.py") == ["a.py", "b.py", "y/d.py", "z/c.py"]


def test_ignore_files_hold_below_their_folder_and_the_nearest_wins(
    project: Path,
) -> None:
    make(project, "a.py", "gen/b.py", "sub/c.py", "sub/d.py", "sub/gen/e.py")
    (project / ".gitignore").write_text("gen/\nd.py\n")
    (project / "sub" / ".ignore").write_text("!d.py\nc.py\n")
    assert found(".") == ["a.py", "sub/d.py"]
    assert skipped(".")["gen"] == "ignored by .gitignore"
    assert skipped(".")["sub/c.py"] == "ignored by .ignore"


def test_the_rules_above_hold_in_a_folder_of_a_repository(project: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    make(project, "src/a.py", "src/gen.py", "src/local.py")
    (project / ".gitignore").write_text("gen.py\n")
    (project / ".git/info").mkdir(exist_ok=True)
    (project / ".git/info/exclude").write_text("local.py\n")
    assert found("src") == ["src/a.py"]


def test_a_tracked_file_that_is_ignored_is_named(project: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    make(project, "a.py", "keep.py", "build/b.py", "build/c.py")
    (project / ".gitignore").write_text("keep.py\nbuild/\n")
    subprocess.run(["git", "add", "-f", "keep.py", "build/b.py"], check=True)
    assert found(".") == ["a.py"]
    reasons = skipped(".")
    assert "though tracked" in reasons["keep.py"]
    assert "though tracked" in reasons["build/b.py"]


def test_the_ignore_rules_hold_without_git_as_well(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project, "a.py", "gen.py")
    (project / ".git").mkdir()
    (project / ".gitignore").write_text("gen.py\n")
    monkeypatch.setenv("PATH", "")
    assert found(".") == ["a.py"]


def test_an_ignored_file_that_is_named_is_looked_at(project: Path) -> None:
    make(project, "a.py")
    (project / ".gitignore").write_text("*.py\n")
    assert found("a.py") == ["a.py"]
    assert found(".", wanted=Wanted(ignored=True)) == ["a.py"]


def test_globs_select_and_leave_out(project: Path) -> None:
    make(project, "a.py", "test_a.py", "sub/b.py")
    assert found(".", wanted=Wanted(globs=["!test_*"])) == ["a.py", "sub/b.py"]
    assert found(".", wanted=Wanted(globs=["sub/**"])) == ["sub/b.py"]


def test_hidden_files_links_and_unknown_names_are_left_out(project: Path) -> None:
    make(project, "a.py", ".b.py", "c.txt")
    (project / "loop").symlink_to(".")
    assert found(".") == ["a.py"]
    assert skipped(".") == {
        ".b.py": "hidden",
        "loop": "a link",
        "c.txt": "no grammar for its name",
    }


def test_a_folder_that_cannot_be_listed_is_named_and_passed_over(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project, "a.py", "lost/b.py", "z/c.py")
    scandir = os.scandir

    def refuse(folder: Path) -> object:
        if folder.name == "lost":
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    assert found(".") == ["a.py", "z/c.py"]
    assert skipped(".")["lost"] == "cannot list: Permission denied"
    with pytest.raises(SourceError, match="cannot list"):
        found("lost")


def test_a_mark_or_windows_line_ends_do_not_spoil_an_ignore_file(project: Path) -> None:
    make(project, "a.py", "b.py", "c.py")
    (project / ".gitignore").write_bytes(b"\xef\xbb\xbfb.py\r\nc.py\r\n")
    assert found(".") == ["a.py"]


def test_a_path_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(SourceError, match="no such file"):
        found("nowhere")
