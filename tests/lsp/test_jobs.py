"""The engine's queue, with work that waits on events instead of time."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from niello.infill.canvas import StopFlag
from niello.lsp.jobs import Jobs, Priority

INTERACTIVE, BATCH, AHEAD = Priority.INTERACTIVE, Priority.BATCH, Priority.AHEAD


@pytest.fixture
async def jobs() -> AsyncIterator[Jobs]:
    jobs = Jobs()
    yield jobs
    assert jobs.close(5)


class Slow:
    """Work that says when it began and goes on until it is let go or stopped."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.release = threading.Event()
        self.saw_stop = threading.Event()

    def __call__(self, stop: StopFlag) -> str:
        self.began.set()
        while not self.release.wait(0.001):
            if stop():
                self.saw_stop.set()
                return "stopped"
        return "done"


async def wait(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 5)


def note(seen: list[str], name: str) -> Callable[[StopFlag], None]:
    return lambda stop: seen.append(name)


async def test_work_runs_on_one_other_thread(jobs: Jobs) -> None:
    names = [
        await jobs.submit(lambda stop: threading.get_ident(), INTERACTIVE)
        for _ in range(3)
    ]
    assert len(set(names)) == 1
    assert names[0] != threading.get_ident()


async def test_an_interactive_job_goes_in_front(jobs: Jobs) -> None:
    slow, seen = Slow(), list[str]()
    first = jobs.submit(slow, INTERACTIVE)
    await wait(slow.began)
    last = jobs.submit(note(seen, "ahead"), AHEAD)
    jobs.submit(note(seen, "batch"), BATCH)
    jobs.submit(note(seen, "interactive"), INTERACTIVE)
    slow.release.set()
    await asyncio.gather(first, last)
    assert seen == ["interactive", "batch", "ahead"]


async def test_the_newest_job_of_a_key_wins(jobs: Jobs) -> None:
    slow, seen = Slow(), list[str]()
    first = jobs.submit(slow, INTERACTIVE, "a")
    await wait(slow.began)
    second = jobs.submit(note(seen, "second"), INTERACTIVE, "a")
    third = jobs.submit(note(seen, "third"), INTERACTIVE, "a")
    assert first.done() and second.done() and not third.done()
    await third
    assert slow.saw_stop.is_set()
    assert seen == ["third"]


async def test_jobs_of_other_keys_are_left_alone(jobs: Jobs) -> None:
    slow = Slow()
    first = jobs.submit(slow, INTERACTIVE, "a")
    second = jobs.submit(lambda stop: "b", INTERACTIVE, "b")
    slow.release.set()
    assert await asyncio.gather(first, second) == ["done", "b"]


async def test_a_cancelled_answer_stops_the_work(jobs: Jobs) -> None:
    slow = Slow()
    answer = jobs.submit(slow, INTERACTIVE)
    await wait(slow.began)
    answer.cancel()
    await wait(slow.saw_stop)


async def test_a_job_cancelled_in_the_queue_is_never_begun(jobs: Jobs) -> None:
    slow, seen = Slow(), list[str]()
    first = jobs.submit(slow, INTERACTIVE)
    waiting = jobs.submit(note(seen, "waiting"), INTERACTIVE)
    waiting.cancel()
    await asyncio.sleep(0)
    slow.release.set()
    await first
    await jobs.submit(note(seen, "last"), INTERACTIVE)
    assert seen == ["last"]


async def test_work_ahead_of_time_gives_way(jobs: Jobs) -> None:
    slow = Slow()
    ahead = jobs.submit(slow, AHEAD)
    await wait(slow.began)
    assert await jobs.submit(lambda stop: "now", INTERACTIVE) == "now"
    assert slow.saw_stop.is_set()
    assert await ahead is None


async def test_an_exception_reaches_the_one_who_waits(jobs: Jobs) -> None:
    def fail(stop: StopFlag) -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        await jobs.submit(fail, INTERACTIVE)
    assert await jobs.submit(lambda stop: 1, INTERACTIVE) == 1


async def test_closing_stops_the_running_work_and_answers_all(jobs: Jobs) -> None:
    slow = Slow()
    running = jobs.submit(slow, INTERACTIVE)
    await wait(slow.began)
    waiting = jobs.submit(lambda stop: 1, INTERACTIVE)
    assert jobs.close(5)
    assert await asyncio.gather(running, waiting) == [None, None]


async def test_nothing_is_kept_of_jobs_that_are_done(jobs: Jobs) -> None:
    for number in range(50):
        await jobs.submit(lambda stop: 1, INTERACTIVE, f"key {number}")
    await asyncio.sleep(0)
    assert not jobs._newest
    assert not jobs._waiting
