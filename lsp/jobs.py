"""The engine's queue: one thread works, the event loop only waits.

A job has a stop flag, which its work reads between forward passes. The flag is set when
nobody waits for the answer any more: the request was cancelled, a newer job of the same
key came, its document changed, or the server ends. A job that is not wanted any more is
answered at once, with None, whether or not the thread has noticed yet.
"""

import asyncio
import threading
from collections.abc import Callable
from enum import IntEnum
from typing import Any, Generic, TypeVar

from niello.infill.canvas import StopFlag

T = TypeVar("T")
Work = Callable[[StopFlag], T]


class Priority(IntEnum):
    """Who goes first; a waiting interactive job also stops one done ahead of time."""

    INTERACTIVE = 0
    BATCH = 1
    AHEAD = 2


class _Job(Generic[T]):
    def __init__(self, work: Work[T], priority: Priority, key: str) -> None:
        self.work = work
        self.priority = priority
        self.key = key
        self.answer: asyncio.Future[T | None] = (
            asyncio.get_running_loop().create_future()
        )
        self.stopped = threading.Event()
        self.answer.add_done_callback(lambda _: self.stopped.set())

    def drop(self) -> None:
        """Answer with None; the thread learns of it by the flag."""
        if not self.answer.done():
            self.answer.set_result(None)


class Jobs:
    """The jobs of one engine thread; all methods are called on the event loop."""

    def __init__(self) -> None:
        """Begin idle; the thread starts with the first job."""
        self._waiting: list[_Job[Any]] = []
        self._newest: dict[str, _Job[Any]] = {}
        self._running: _Job[Any] | None = None
        self._change = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def submit(
        self, work: Work[T], priority: Priority, key: str = ""
    ) -> asyncio.Future[T | None]:
        """Queue ``work``; a job of the same key that came before is dropped."""
        job = _Job(work, priority, key)
        if key:
            self.drop(key)
            self._newest[key] = job
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, args=(asyncio.get_running_loop(),), daemon=True
            )
            self._thread.start()
        with self._change:
            running = self._running
            self._waiting.append(job)
            self._change.notify()
        if running is not None and priority < running.priority == Priority.AHEAD:
            running.drop()
        job.answer.add_done_callback(lambda _: self._forget(job))
        return job.answer

    def drop(self, key: str) -> None:
        """Drop the job of ``key``, if there is one."""
        if job := self._newest.pop(key, None):
            job.drop()

    def close(self, patience: float) -> bool:
        """Drop everything, end the thread, and return whether it ended in time."""
        with self._change:
            self._closed = True
            jobs = [*self._waiting, *([self._running] if self._running else [])]
            self._change.notify()
        for job in jobs:
            job.drop()
            job.stopped.set()  # The loop may be gone, and with it the callback.
        if self._thread is None:
            return True
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _forget(self, job: _Job[Any]) -> None:
        if self._newest.get(job.key) is job:
            del self._newest[job.key]
        with self._change:
            if job in self._waiting:
                self._waiting.remove(job)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        while job := self._take():
            result: Any = None
            error: Exception | None = None
            try:
                result = job.work(job.stopped.is_set)
            except Exception as caught:
                error = caught
            except BaseException as caught:  # A library's exit must not be ours.
                error = RuntimeError(type(caught).__name__)
            with self._change:
                self._running = None
            try:
                loop.call_soon_threadsafe(_finish, job, result, error)
            except RuntimeError:  # The loop is closed: the server has ended.
                return
            del job, result, error

    def _take(self) -> _Job[Any] | None:
        with self._change:
            while not self._closed:
                if self._waiting:
                    job = min(self._waiting, key=lambda each: each.priority)
                    self._waiting.remove(job)
                    self._running = job
                    return job
                self._change.wait()
        return None


def _finish(job: _Job[Any], result: Any, error: Exception | None) -> None:
    if job.answer.done():
        return
    if error is None:
        job.answer.set_result(result)
    else:
        job.answer.set_exception(error)
