"""kill -9 at any moment: every file is whole, and the run goes on to the same end.

A dozen kills by default; `NIELLO_KILLS=200 pytest tests/batch/test_crash.py` for more.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STUB = Path(__file__).parent / "stub_refactor.py"
SOURCE = Path(__file__).parent.parent.parent / "src"
QUERY = "(assignment left: (identifier) right: (integer) @fill)"
KILLS = int(os.environ.get("NIELLO_KILLS", "12"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs kill -9"),
]

Tree = dict[str, bytes]


def test_a_killed_run_damages_no_file_and_resumes_to_the_same_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(7)
    old_tree = make_tree(tmp_path / "original")
    whole = Runner(tmp_path, "whole")
    started = time.monotonic()
    assert whole.start("refactor", ".", "--query", QUERY, "--write").wait() == 3
    duration = time.monotonic() - started
    new_tree = read_tree(whole.folder)
    assert new_tree != old_tree
    assert new_tree.keys() == old_tree.keys()
    in_the_middle = 0
    for number in range(KILLS):
        runner = Runner(tmp_path, f"run{number}")
        arguments = ["refactor", ".", "--query", QUERY, "--write"]
        for _ in range(chance.choice((1, 1, 2, 3))):
            process = runner.start(*arguments)
            try:
                process.wait(duration * chance.uniform(0.2, 1.1))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            tree = read_tree(runner.folder, parts=False)
            assert tree.keys() == old_tree.keys()
            changed = [name for name in tree if tree[name] != old_tree[name]]
            assert all(tree[name] == new_tree[name] for name in changed)
            in_the_middle += 0 < len(changed) < len(written(old_tree, new_tree))
            if runner.has_run():
                arguments = ["refactor", "--resume", "last", "--write"]
        assert runner.start(*arguments).wait() == 3, runner.errors()
        assert read_tree(runner.folder) == new_tree
        shutil.rmtree(runner.folder)
    with capsys.disabled():
        sys.stdout.write(f"{KILLS} runs, {in_the_middle} killed amid the writes ")


class Runner:
    """A copy of the tree with a store of runs of its own."""

    def __init__(self, scratch: Path, name: str) -> None:
        self.folder = scratch / name
        self._runs = scratch / f"{name}-runs"
        self._plan = scratch / "plan.json"
        self._errors = scratch / "errors"
        shutil.copytree(scratch / "original", self.folder)
        self._plan.write_text(json.dumps({"seconds": 0.01}), "utf-8")

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        with self._errors.open("wb") as errors:
            return subprocess.Popen(
                [sys.executable, str(STUB), str(self._plan), *arguments],
                cwd=self.folder,
                env=os.environ
                | {"PYTHONPATH": str(SOURCE), "NIELLO_RUNS": str(self._runs)},
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def has_run(self) -> bool:
        """Whether a run got as far as saying what it was asked for."""
        paths = self._runs.glob("*.jsonl")
        return any(b"\n" in path.read_bytes() for path in paths)

    def errors(self) -> str:
        return self._errors.read_text("utf-8")


def make_tree(folder: Path) -> Tree:
    """Write files of every sort that a write has to keep."""
    for number in range(60):
        end = ("\n", "\r\n")[number % 2]
        lines = [f"# Datei {number}: größer", "a = 1", "b = 2", f"c = {number}"]
        text = end.join(lines) + end
        bom = b"\xef\xbb\xbf" if number % 7 == 0 else b""
        path = folder / f"part{number % 5}" / f"m{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bom + text.encode())
    return read_tree(folder)


def read_tree(folder: Path, *, parts: bool = True) -> Tree:
    """Return all files; without ``parts`` those a killed writer left are left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (parts or not path.name.endswith(".part"))
    }


def written(old: Tree, new: Tree) -> list[str]:
    return [name for name in old if old[name] != new[name]]
