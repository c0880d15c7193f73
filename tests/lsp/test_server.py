"""The server as a client sees it: a real process, a model that follows a script."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from stub_client import SOURCES

from niello.bench.client import Client

Start = Callable[..., Client]

pytestmark = pytest.mark.e2e
URI = "file:///w/a.py"


def test_the_server_does_not_import_torch() -> None:
    code = "import sys, niello.lsp.server; sys.exit('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(SOURCES)}, timeout=60
    )
    assert done.returncode == 0


def test_a_candidate_comes_with_a_range_to_the_end_of_the_line(start: Start) -> None:
    client = start(texts=["y"])
    answer = client.initialize()
    assert answer["capabilities"]["inlineCompletionProvider"] == {}
    client.open(URI, "print(x, )\n")
    (item,) = client.inline(URI, (0, 9))
    assert item["insertText"] == "y)"
    assert item["range"] == {
        "start": {"line": 0, "character": 9},
        "end": {"line": 0, "character": 10},
    }
    assert client.close() == 0


def test_the_end_is_quiet(start: Start, tmp_path: Path) -> None:
    client = start()
    client.initialize()
    assert client.close() == 0
    assert "Traceback" not in (tmp_path / "server0" / "stderr").read_text()
