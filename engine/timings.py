"""What was timed on this machine, remembered so that no start times it again.

    NIELLO_HOME/timings.json    {processor, PyTorch, threads: {what: figure}}

A file that cannot be read or written costs the time alone.
"""

import json
import logging
import os
import platform
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import torch

from niello.engine.disk import home

logger = logging.getLogger(__name__)

T = TypeVar("T", str, bool, float)

_FEATURES = (
    "avx2",
    "avx512",
    "vnni",
    "avx512_vnni",
    "avx512_bf16",
    "amx_tile",
    "amx_int8",
)


def features() -> list[str]:
    """Return what this processor has of the features that kernels ask for."""
    return [
        name
        for name in _FEATURES
        if getattr(torch.cpu, f"_is_{name}_supported", lambda: False)()
    ]


def recall(what: str, kind: type[T]) -> T | None:
    """Return what is remembered, if it is of that kind."""
    found = _read().get(_machine(), {}).get(what)
    return found if isinstance(found, kind) else None


def remember(what: str, figure: str | bool | float) -> None:
    """Write a figure down, beside those of other machines."""
    known = _read()
    own = known.setdefault(_machine(), {})
    if own.get(what) == figure:
        return
    own[what] = figure
    path = home() / "timings.json"
    part = path.with_name(f"timings.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(known, indent=1), "utf-8")
        part.replace(path)
    except OSError as error:
        logger.debug("timings are not kept: %s", error)


def remembered(what: str, kind: type[T], work: Callable[[], T]) -> T:
    """Return what is remembered, or what ``work`` returns, which is then."""
    found = recall(what, kind)
    if found is None:
        found = work()
        remember(what, found)
    return found


def _read() -> dict[str, dict[str, object]]:
    try:
        known = json.loads((home() / "timings.json").read_bytes())
    except (OSError, ValueError):
        return {}
    sound = isinstance(known, dict) and all(isinstance(k, dict) for k in known.values())
    return known if sound else {}


@cache
def _processor() -> str:
    try:
        told = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        told = None
    return told[1] if told else platform.processor()


def _machine() -> str:
    return (
        f"{_processor()}, {' '.join(features())}; {os.cpu_count()} of them;"
        f" {torch.get_num_threads()} threads; torch {torch.__version__}"
    )
