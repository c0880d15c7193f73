"""Starts the real server with a model that follows a script and records its prompts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from niello.bench.client import Client
from niello.bench.stub import start_scripted

SOURCES = Path(__file__).resolve().parent.parent / "src"


def start_stub(
    scratch: Path,
    script: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
) -> Client:
    """Start a server; ``scratch/record`` gets one line a prompt."""
    record = {"record": str(scratch / "record")}
    return start_scripted(scratch, {**record, **script}, environment)
