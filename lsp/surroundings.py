"""What the model sees beside a document: its notebook's cells, and other open files.

Both are noted on the event loop, which is cheap, and put together on the engine's
thread. What is taken of other files stays the same while somebody types in a document,
or what the model has computed of the context would be lost with each letter.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from niello.grammars.catalogue import find_language
from niello.infill.notebook import Cell, join_cells
from niello.infill.propose import Candidate
from niello.infill.similar import Source, find_similar
from niello.infill.snapshot import Snapshot

from .access import refusal
from .documents import Document, Documents, spelling
from .edits import comment_of
from .layers import Layers
from .settings import Settings

_FAR = 100  # lines the cursor moves until other files are looked through anew
_NEAR = 4  # the same as long as nothing was found in them
_MOST = 200_000  # code points of other files that are looked through
_KEPT = 8  # documents


class Scene(NamedTuple):
    """A document with what is around it at one moment."""

    snapshot: Snapshot
    cells: tuple[Cell, ...]  # of its notebook, in order; itself alone if there is none
    place: int  # its own among the cells
    name: str  # a comment that names it
    sources: tuple[Source, ...]  # other files, what changed last comes first
    budget: int  # most tokens of them


class View(NamedTuple):
    """What the core works on: the document's text stands in it at ``[start, end)``."""

    snapshot: Snapshot
    start: int
    end: int
    extra: str

    def own(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates inside the document, by its own offsets."""
        return [
            each._replace(
                span=each.span._replace(
                    start=each.span.start - self.start, end=each.span.end - self.start
                )
            )
            for each in candidates
            if self.start <= each.span.start and each.span.end <= self.end
        ]


class _Kept(NamedTuple):
    """What was taken of other files, and for which place."""

    sources: tuple[Source, ...]
    budget: int
    line: int
    extra: str


class Surroundings:
    """Looks around documents, and remembers what was taken of other files."""

    def __init__(self, documents: Documents, layers: Layers) -> None:
        """Begin with nothing taken."""
        self._documents = documents
        self._layers = layers
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def look(self, snapshot: Snapshot, settings: Settings) -> Scene:
        """Note what is around a document; called on the event loop."""
        document = self._documents.find(snapshot.uri)
        notebook = document.notebook if document else ""
        cells, place = [Cell(snapshot.text, snapshot.language)], 0
        beside = self._documents.cells_of(notebook)
        if document in beside:
            own = beside.index(document)
            head = self._readable(beside[:own])
            cells = [*head, *cells, *self._readable(beside[own + 1 :])]
            place = len(head)
        budget = settings.window.extra_tokens
        sources = self._sources(snapshot, notebook) if budget else ()
        name = _name(notebook or snapshot.uri, snapshot.language)
        return Scene(snapshot, tuple(cells), place, name, tuple(sources), budget)

    def view(self, scene: Scene, cursor: int) -> View:
        """Put together what is seen from ``cursor``; called on the engine's thread."""
        joined = join_cells(scene.cells, scene.place)
        snapshot = scene.snapshot._replace(text=joined.text)
        extra = self._extra(scene, joined.text, joined.start + cursor)
        return View(snapshot, joined.start, joined.end, extra)

    def forget(self, uri: str) -> None:
        """Drop what was taken for a document."""
        self._kept.pop(spelling(uri), None)

    def _extra(self, scene: Scene, text: str, cursor: int) -> str:
        key = spelling(scene.snapshot.uri)
        line = text.count("\n", 0, cursor)
        kept = self._kept.pop(key, None)
        if (
            kept is None
            or (kept.sources, kept.budget) != (scene.sources, scene.budget)
            or abs(line - kept.line) > (_FAR if kept.extra else _NEAR)
        ):
            extra = find_similar(text, cursor, scene.sources, scene.budget)
            # The model is told where the other files end.
            extra = f"{extra}{scene.name}\n" if extra else ""
            kept = _Kept(scene.sources, scene.budget, line, extra)
        self._kept[key] = kept
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return kept.extra

    def is_seen(self, document: Document) -> bool:
        """Whether others may be shown a document's text: it is code, and no secret."""
        known = document.notebook or find_language(document.language)
        return bool(known) and not self._refuses(document)

    def _refuses(self, document: Document) -> bool:
        """Whether its own folder's settings keep a document to itself."""
        return refusal(document, self._layers.at(document.home)) is not None

    def _readable(self, documents: Sequence[Document]) -> list[Cell]:
        return [
            Cell(each.text, each.language)
            for each in documents
            if not self._refuses(each)
        ]

    def _sources(self, snapshot: Snapshot, notebook: str) -> Iterator[Source]:
        """Yield other documents, as far as they may be read and are code."""
        own, left = _path(snapshot.uri), _MOST
        for each in reversed(list(self._documents)):
            if (
                # Editors show one file in several ways, such as its last commit.
                _path(each.uri) == own
                or (notebook and each.notebook == notebook)
                or find_language(each.language) is None
                or len(each.text) > left
                or self._refuses(each)
            ):
                continue
            left -= len(each.text)
            name = _name(each.notebook or each.uri, snapshot.language)
            yield Source(name, each.text)


def _path(uri: str) -> str:
    """Return the path that a URI names, whatever its scheme says of it."""
    return spelling(uri).partition(":")[2].partition("?")[0].lstrip("/")


def _name(uri: str, language: str) -> str:
    """Return a comment with the last two parts of a document's path."""
    parts = _path(uri).partition("#")[0].split("/")
    return comment_of("/".join(parts[-2:]), find_language(language))
