"""Starts the real server with a model that follows a script."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from niello.infill.errors import SourceError

from .client import Client

_ROOT = Path(__file__).resolve().parent.parent


def start_scripted(
    scratch: Path,
    script: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
) -> Client:
    """Start a server; ``scratch`` gets its script, log and standard error."""
    stub = _ROOT / "tests" / "lsp" / "stub_server.py"
    if not stub.exists():
        raise SourceError(f"{stub} is missing: this measurement runs in a checkout")
    scratch.mkdir(exist_ok=True)
    path = scratch / "stub.json"
    path.write_text(json.dumps(script))
    own = {
        "NIELLO_STUB": str(path),
        "NIELLO_LOG_FILE": str(scratch / "server.log"),
        "PYTHONPATH": str(_ROOT / "src"),
    }
    own |= environment or {}
    return Client([sys.executable, str(stub)], os.environ | own, scratch / "stderr")
