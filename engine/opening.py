"""From the name a user gives to a filler: the engine's way in for editor and shell."""

import os
from collections.abc import Callable

from niello.infill.canvas import Filler

from .store import Store

Progress = Callable[[str, int, int], None]
Say = Callable[[str], None]


def open_filler(
    name: str,
    *,
    n_threads: int = 0,
    check: bool = True,
    progress: Progress = lambda _step, _done, _total: None,
    say: Say = lambda _text: None,
    store: Store | None = None,
) -> Filler:
    """Load the model called ``name``: one of the store, or a folder; no look-ups.

    ``n_threads`` 0 takes what torch finds. Raises ModelError with what to do.
    """
    folder = (store or Store()).path(name, progress, say)
    from .engine import Engine

    return Engine.load(folder, n_threads=n_threads or _threads(), check=check)


def _threads() -> int | None:
    """Leave the number to the environment where it says one."""
    return None if os.environ.get("OMP_NUM_THREADS") else _cores()


def _cores() -> int | None:
    import psutil

    n_cores: int | None = psutil.cpu_count(logical=False)
    return n_cores
