"""The plan of a run as a stream of events; nothing is written to a user's file here.

Files with targets are taken in chunks of bounded size, the next one read while this
one is filled. Within a chunk each step sees the text that the step before left, and the
targets of all its files are filled together.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from niello.infill.canvas import Filler
from niello.infill.errors import SourceError
from niello.infill.files import MAX_BYTES, read_source

from .document import Document, Key
from .edits import Edit
from .fill import FillOptions, Job, Outcome, fill_jobs
from .git import HAS_CHANGES, with_changes
from .journal import Event, number_of, text_of
from .recipe import Step
from .walk import Found, Skipped
from .width import Width

_CHUNK_FILES = 64
_CHUNK_CHARACTERS = 1_000_000

_T = TypeVar("_T")
Ask = Callable[[Job, Outcome, str], Outcome]
"""Asks the user about an outcome in the file of that path; may raise Quit."""


class Quit(Exception):
    """The user has had enough; what was accepted stays accepted."""


class Progress(NamedTuple):
    """How far the run has come; not part of the journal."""

    n_characters: int  # of files that are done
    n_targets: int  # found so far
    n_settled: int
    width: int


class Run(NamedTuple):
    """What a run is made of."""

    steps: Sequence[Step]
    filler: Filler
    options: FillOptions
    width: Width
    limit: int | None = None  # most targets
    max_bytes: int = MAX_BYTES
    settled: Mapping[
        Key, Event
    ] = {}  # targets an earlier, broken-off run has ended with
    ask: Ask | None = None
    clean_only: bool = False  # refuse tracked files with uncommitted changes


def plan(run: Run, items: Iterable[Found | Skipped]) -> Iterator[Event | Progress]:
    """Yield what happens to each file and target, in the order of ``items``."""
    planner = _Planner(run)
    most_files = 1 if run.ask else _CHUNK_FILES
    for chunk in _ahead(_chunks(items, run.steps, most_files, run.max_bytes)):
        yield from chunk.events
        planner.begin(chunk.documents)
        for number in range(len(run.steps)):
            yield from planner.step(number, chunk.documents)
            if planner.quit:
                break
        for document in chunk.documents:
            if any(document.edits):
                yield document.file_event()
        yield planner.progress(chunk.n_characters)
        if planner.quit or planner.left == 0:
            return


class _Planner:
    """What lasts from chunk to chunk: counters, and whether to go on."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._dirty: frozenset[Path] = frozenset()
        self._refused: set[Path] = set()
        self.left = run.limit
        self.quit = False
        self._n_characters = self._n_targets = self._n_settled = 0

    def begin(self, documents: list[Document]) -> None:
        """Ask git about a chunk's files: better now than when the model has worked."""
        self._refused.clear()
        if self._run.clean_only:
            self._dirty = with_changes(document.source.path for document in documents)

    def step(
        self, number: int, documents: list[Document]
    ) -> Iterator[Event | Progress]:
        """Find, fill and settle the targets of one step in a chunk's files."""
        jobs: list[Job] = []
        owners: list[Document] = []
        for document in documents:
            if document.source.path in self._refused:
                continue
            found = self._jobs(document, number)[: self.left]
            if found and (reason := self._why_not(document)):
                self._refused.add(document.source.path)
                yield _refused(document.path, reason)
                continue
            if self.left is not None:
                self.left -= len(found)
            jobs += found
            owners += [document] * len(found)
        self._n_targets += len(jobs)
        accepted: dict[str, list[Edit]] = {}
        for event in self._outcomes(number, jobs, owners):
            if not event["gate"]:
                accepted.setdefault(text_of(event, "path"), []).append(_edit(event))
            self._n_settled += 1
            yield event
            yield self.progress()
        for document in documents:
            for edit in document.take_step(sorted(accepted.get(document.path, []))):
                yield _dropped(document, number, edit)

    def _why_not(self, document: Document) -> str | None:
        if document.source.path in self._dirty:
            return HAS_CHANGES
        return document.why_not_writable()

    def _jobs(self, document: Document, number: int) -> list[Job]:
        step = self._run.steps[number]
        found = document.targets(step)
        return [Job(document.parsed, target, step) for target in found]

    def _outcomes(
        self, number: int, jobs: list[Job], owners: list[Document]
    ) -> Iterator[Event]:
        """Yield the event of each target, from the journal where it has one."""
        fresh: list[int] = []
        for index, job in enumerate(jobs):
            known = self._run.settled.get(owners[index].key(number, job.target))
            if known is None:
                fresh.append(index)
            else:
                yield known
        for index, outcome in self._fresh_outcomes(jobs, fresh):
            job, owner = jobs[index], owners[index]
            if self._run.ask is not None and not outcome.gate:
                try:
                    outcome = self._run.ask(job, outcome, owner.path)
                except Quit:
                    self.quit = True
                    return
            yield owner.outcome_event(number, job, outcome)

    def _fresh_outcomes(
        self, jobs: list[Job], fresh: list[int]
    ) -> Iterator[tuple[int, Outcome]]:
        """Fill jobs: as they come, but part by part and in order if someone looks.

        The first is alone, so that nobody waits for a batch; then parts double.
        """
        run = self._run
        width = 1 if run.ask else max(1, len(fresh))
        start = 0
        while part := fresh[start : start + width]:
            start += width
            todo = [jobs[index] for index in part]
            outcomes = fill_jobs(todo, run.filler, run.options, run.width)
            if run.ask:
                outcomes = iter(sorted(outcomes))
                width = min(2 * width, run.width.now)
            for place, outcome in outcomes:
                yield part[place], outcome

    def progress(self, n_characters: int = 0) -> Progress:
        """Count the size of files that are done in and tell how far the run is."""
        self._n_characters += n_characters
        return Progress(
            self._n_characters, self._n_targets, self._n_settled, self._run.width.now
        )


def _edit(event: Event) -> Edit:
    return Edit(
        number_of(event, "start"),
        number_of(event, "end"),
        text_of(event, "old"),
        text_of(event, "new"),
    )


def _dropped(document: Document, step: int, edit: Edit) -> Event:
    return {
        "event": "dropped",
        "path": document.path,
        "step": step,
        "start": edit.start,
        "end": edit.end,
        "gate": "together",
    }


class _Chunk(NamedTuple):
    documents: list[Document]
    events: list[Event]
    n_characters: int = 0  # of all its files, those without a target too


def _chunks(
    items: Iterable[Found | Skipped],
    steps: Sequence[Step],
    most_files: int,
    max_bytes: int,
) -> Iterator[_Chunk]:
    """Read files and cut them into chunks that bound what is held in memory."""
    chunk, n_held = _Chunk([], []), 0
    for item in items:
        if isinstance(item, Skipped):
            chunk.events.append(skipped_event(item))
            continue
        try:
            document = Document(read_source(item.path, max_bytes), item.language)
        except SourceError as error:
            reason = str(error).removeprefix(f"{item.path}: ")
            if item.named:
                chunk.events.append(_refused(str(item.path), reason))
            else:
                left_out = Skipped(item.path, reason, notable=True)
                chunk.events.append(skipped_event(left_out))
            continue
        size = len(document.source.text)
        chunk = chunk._replace(n_characters=chunk.n_characters + size)
        # What no step finds anything in stays as it is, whatever the steps do.
        if not any(document.targets(step) for step in steps):
            continue
        chunk.documents.append(document)
        n_held += size
        if len(chunk.documents) >= most_files or n_held >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, n_held = _Chunk([], []), 0
    yield chunk


def _refused(path: str, reason: str) -> Event:
    return {"event": "refused", "path": path, "reason": reason}


def skipped_event(skipped: Skipped) -> Event:
    """Describe a file that was left out."""
    return {
        "event": "skipped",
        "path": str(skipped.path),
        "reason": skipped.reason,
        "notable": skipped.notable,
    }


def _ahead(items: Iterator[_T]) -> Iterator[_T]:
    """Yield the items, the next one being made while this one is worked on."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item
