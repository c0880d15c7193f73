"""Starts the real server with a model that follows a script (lsp/stub_server.py)."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from niello.bench.client import Client

STUB = Path(__file__).parent / "lsp" / "stub_server.py"
SOURCES = Path(__file__).resolve().parent.parent / "src"


def start_stub(
    scratch: Path,
    script: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
) -> Client:
    """Start a server; ``scratch`` gets its script, record, log and standard error."""
    scratch.mkdir(exist_ok=True)
    path = scratch / "stub.json"
    path.write_text(json.dumps({"record": str(scratch / "record"), **script}))
    own = {
        "NIELLO_STUB": str(path),
        "NIELLO_LOG_FILE": str(scratch / "server.log"),
        "PYTHONPATH": str(SOURCES),
    }
    command = [sys.executable, str(STUB)]
    return Client(
        command, os.environ | own | dict(environment or {}), scratch / "stderr"
    )
