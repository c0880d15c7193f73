"""From the name a user gives to a filler: the engine's way in for editor and shell."""

import os
from collections.abc import Callable

from niello.infill.canvas import Filler

from .families.published import hub_id_of
from .remote import open_remote
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
    """Load the model called ``name``: of the store, a folder, or behind an address.

    ``n_threads`` 0 takes one a core. A local model is found with no look-up anywhere.
    Raises ModelError with what to do.
    """
    if (remote := open_remote(name)) is not None:
        return remote
    folder = (store or Store()).path(hub_id_of(name), progress, say)
    from .engine import Engine
    from .families.open import is_family, open_family

    if is_family(folder):
        return open_family(folder)
    return Engine.load(folder, n_threads=n_threads or _n_cores(), check=check)


def _n_cores() -> int | None:
    """Return the physical cores; None, torch's own choice, where OMP_NUM_THREADS is."""
    import psutil

    if os.environ.get("OMP_NUM_THREADS"):
        return None
    n_cores: int | None = psutil.cpu_count(logical=False)
    return n_cores
