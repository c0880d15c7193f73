"""Lets one process at a time change a model; those that wait are told so."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def alone(path: Path, wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file; `wait` is called first if another process holds it.

    The system frees the lock of a process that dies, whatever it dies of.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        wait()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
