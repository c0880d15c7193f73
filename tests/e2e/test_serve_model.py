"""The real default model behind the real server, without an editor between."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from stub_client import SOURCES

from niello.bench.client import Client
from niello.bench.typing import SERVE, type_through
from niello.engine.store import Store
from niello.infill.errors import ModelError

pytestmark = [pytest.mark.e2e, pytest.mark.model, pytest.mark.slow]

URI = "file:///w/words.py"
WORDS = '''\
import re


def count_words(text):
    """Return a dict from each word to how often it occurs."""
    counts = {}
    for word in re.findall(r"\\w+", text.lower()):
HERE
    return counts
'''.replace("HERE", " " * 8)


@pytest.fixture
def client() -> Iterator[Client]:
    try:
        Store().path("default")
    except ModelError as error:
        pytest.skip(str(error))
    client = Client(SERVE, os.environ | {"PYTHONPATH": str(SOURCES)})
    yield client
    client.kill()


def test_a_block_is_filled_with_code_that_parses(client: Client) -> None:
    client.initialize()
    client.wait_for_note("niello/status", 600, kind="ready")
    client.open(URI, WORDS)
    (item, *_) = client.inline(URI, (7, 8), automatic=True)
    lines = WORDS.split("\n")
    lines[7] = lines[7][:8] + item["insertText"]
    ast.parse("\n".join(lines))
    assert "counts" in item["insertText"]
    assert client.close() == 0


def test_a_keystroke_costs_what_was_typed_and_not_the_file(client: Client) -> None:
    path = Path(__file__).parent.parent / "lsp" / "test_edits.py"
    found = type_through(client, path.read_text("utf-8"), path, 40)
    assert found.cache_hit_rate > 0.9
    assert found.tokens_per_keystroke < 5
