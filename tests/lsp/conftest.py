"""A client with a real server process whose model follows a script."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stub_client import start_stub

from niello.bench.client import Client


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Start servers with a script for their model; all are gone after the test."""
    clients: list[Client] = []

    def start_one(**script: Any) -> Client:
        clients.append(start_stub(tmp_path / f"server{len(clients)}", script))
        return clients[-1]

    yield start_one
    for each in clients:
        each.kill()
