"""Candidates as texts to put at the cursor, remembered while the user types into them.

An offer is answered again from memory as long as the document is what it was plus the
beginning of the offered text; the model is not asked. What would be asked next, if the
first text were accepted, is prepared while the engine is idle.
"""

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from niello.infill.canvas import Draws, StopFlag
from niello.infill.propose import Candidate, Options, draw_canvas, propose
from niello.infill.snapshot import Snapshot
from niello.infill.span import find_span

from .counters import Counting
from .documents import Document, spelling
from .holder import Holder
from .jobs import Priority
from .settings import Settings
from .surroundings import Surroundings
from .trees import Trees

_OFFERS_KEPT = 4  # of one document
_DOCUMENTS_KEPT = 8
_IDLE = 0.1  # seconds without a key or a question after which work ahead begins
_CLOSERS = frozenset(")]}>\"'`")


class Insert(NamedTuple):
    """A text to put at the cursor, replacing ``replaced`` code points behind it."""

    text: str
    replaced: int
    score: float  # mean log-probability of its tokens, nats


class Offer(NamedTuple):
    """What was drawn for one cursor in one text; no inserts if there was nothing."""

    text: str
    cursor: int
    n_drawn: int
    inserts: tuple[Insert, ...]


class Ahead(NamedTuple):
    """What is being drawn for a text that is not there yet."""

    first: int  # where the accepted text would begin
    cursor: int  # where it would end
    text: str  # with it
    task: "asyncio.Task[Offer | None]"

    def awaits(self, document: Document) -> bool:
        """Whether the change of a document may be the beginning of that text."""
        typed = document.text[: document.changed_at]
        # An editor puts a closing bracket behind an opening one by itself.
        heads = [typed, typed[:-1]] if typed[-1:] in _CLOSERS else [typed]
        return any(
            self.first <= len(head) <= self.cursor and self.text.startswith(head)
            for head in heads
        )


class Offers:
    """Asks for candidates, and remembers them."""

    def __init__(
        self, holder: Holder, trees: Trees, surroundings: Surroundings
    ) -> None:
        """Begin with an empty memory."""
        self._holder = holder
        self._trees = trees
        self._surroundings = surroundings
        self._kept: OrderedDict[str, list[Offer]] = OrderedDict()
        self._warming: asyncio.TimerHandle | None = None
        self._preparing: asyncio.TimerHandle | None = None
        self._ahead: dict[str, Ahead] = {}

    def recall(self, snapshot: Snapshot, cursor: int) -> Offer | None:
        """Return what memory holds for ``cursor``, with what was typed cut off."""
        for offer in reversed(self._kept.get(spelling(snapshot.uri), [])):
            if found := typed_into(offer, snapshot.text, cursor):
                return found
        return None

    async def ask(
        self, snapshot: Snapshot, cursor: int, n_drawn: int, settings: Settings
    ) -> Offer | None:
        """Draw candidates at ``cursor``; None if somebody newer was asked instead."""
        _cancel(self._warming)
        _cancel(self._preparing)
        key = spelling(snapshot.uri)
        ahead = self._ahead.get(key)
        if ahead and ahead[1:3] == (cursor, snapshot.text) and n_drawn == 1:
            # It is being drawn already. Cancelling this request leaves it going on.
            offer = await asyncio.shield(ahead.task)
            if offer is not None:
                return offer
        return await self._draw(
            snapshot, cursor, n_drawn, settings, key, Priority.INTERACTIVE
        )

    def changed(self, document: Document) -> None:
        """Stop preparing what a document's new text can no more become."""
        _cancel(self._preparing)
        key = spelling(document.uri)
        if key in self._ahead and not self._ahead[key].awaits(document):
            self._holder.jobs.drop(f"{key} ahead")

    def prepare(self, snapshot: Snapshot, offer: Offer, settings: Settings) -> None:
        """Draw what would follow if the first text of ``offer`` were accepted.

        Nobody accepts at once, and who types on is not to wait for this.
        """
        _cancel(self._preparing)
        if settings.inline.ahead and offer.inserts:
            later = asyncio.get_running_loop().call_later
            self._preparing = later(_IDLE, self._prepare, snapshot, offer, settings)

    def _prepare(self, snapshot: Snapshot, offer: Offer, settings: Settings) -> None:
        first = offer.inserts[0]
        head = offer.text[: offer.cursor] + first.text
        text = head + offer.text[offer.cursor + first.replaced :]
        then = snapshot._replace(text=text)
        key = spelling(snapshot.uri)
        if key in self._ahead or self.recall(then, len(head)) is not None:
            return
        drawing = self._draw(
            then, len(head), 1, settings, f"{key} ahead", Priority.AHEAD
        )
        task = asyncio.ensure_future(drawing)
        self._ahead[key] = Ahead(offer.cursor, len(head), text, task)
        task.add_done_callback(lambda _: self._ahead.pop(key, None))

    def warm_soon(self, snapshot: Snapshot, cursor: int, settings: Settings) -> None:
        """Compute the context of a cursor if nothing is asked there for a moment."""
        _cancel(self._warming)
        if settings.inline.ahead and self._holder.ready:
            later = asyncio.get_running_loop().call_later
            self._warming = later(_IDLE, self._warm, snapshot, cursor, settings)

    def _warm(self, snapshot: Snapshot, cursor: int, settings: Settings) -> None:
        options = options_of(settings, 1)
        scene = self._surroundings.look(snapshot, settings)

        def work(engine: Counting, stop: StopFlag) -> None:
            view = self._surroundings.view(scene, cursor)
            parsed = self._trees.parse(view.snapshot)
            span = find_span(parsed, view.start + cursor)
            canvas = draw_canvas(parsed, span, options, extra=view.extra)
            engine.warm(canvas.context, stop)

        key = f"{spelling(snapshot.uri)} warm"
        self._warmed = asyncio.ensure_future(
            self._holder.run(work, key, Priority.AHEAD)
        )

    def forget(self, uri: str | None = None) -> None:
        """Drop what is remembered of one document or of all."""
        _cancel(self._preparing)
        if uri is None:
            self._kept.clear()
        else:
            self._kept.pop(spelling(uri), None)

    def forget_others(self, uri: str) -> None:
        """Drop what other documents were offered before this one changed."""
        for key in {*self._kept, *self._ahead} - {spelling(uri)}:
            self._kept.pop(key, None)
            self._holder.jobs.drop(f"{key} ahead")

    async def _draw(
        self,
        snapshot: Snapshot,
        cursor: int,
        n_drawn: int,
        settings: Settings,
        key: str,
        priority: Priority,
    ) -> Offer | None:
        options = options_of(settings, n_drawn)
        scene = self._surroundings.look(snapshot, settings)

        def work(filler: Counting, stop: StopFlag) -> list[Candidate]:
            view = self._surroundings.view(scene, cursor)
            found = propose(
                view.snapshot,
                view.start + cursor,
                filler,
                options,
                stop,
                parsed=self._trees.parse(view.snapshot),
                extra=view.extra,
            )
            return view.own(found)

        candidates = await self._holder.run(work, key, priority)
        if candidates is None:
            return None
        inserts = [insert_of(snapshot.text, cursor, each) for each in candidates]
        distinct = tuple(dict.fromkeys(each for each in inserts if each is not None))
        offer = Offer(snapshot.text, cursor, n_drawn, distinct)
        self._keep(spelling(snapshot.uri), offer)
        return offer

    def _keep(self, key: str, offer: Offer) -> None:
        kept = self._kept.setdefault(key, [])
        self._kept.move_to_end(key)
        kept.append(offer)
        del kept[:-_OFFERS_KEPT]
        while len(self._kept) > _DOCUMENTS_KEPT:
            self._kept.popitem(last=False)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def options_of(settings: Settings, n_drawn: int) -> Options:
    """Return the core's options as the settings say."""
    draws = Draws(n_drawn)
    window = settings.window
    return Options(draws, settings.room, window.prefix_tokens, window.suffix_tokens)


def insert_of(text: str, cursor: int, candidate: Candidate) -> Insert | None:
    """Return a candidate as seen from the cursor, or None if it changes nothing there.

    A candidate that rewrites text in front of the cursor is none for ghost text.
    """
    start, end = candidate.span.start, candidate.span.end
    before = text[start:cursor]
    if end < cursor or not candidate.text.startswith(before):
        return None
    put = text[cursor:start] + candidate.text[len(before) :]
    if put == text[cursor:end] or not put.strip():
        return None
    return Insert(put, end - cursor, candidate.score)


def typed_into(offer: Offer, text: str, cursor: int) -> Offer | None:
    """Return the rest of ``offer`` if ``text`` is its text with a part of it typed in.

    Editors put closing brackets and quotes behind the cursor by themselves; those are
    replaced by the offered ones.
    """
    start = offer.cursor
    rest, old_rest = text[cursor:], offer.text[start:]
    closers = rest[: len(rest) - len(old_rest)]
    if (
        cursor < start
        or len(closers) > 2
        or not _CLOSERS.issuperset(closers)
        or rest[len(closers) :] != old_rest
        or text[:start] != offer.text[:start]
    ):
        return None
    typed = text[start:cursor]
    if not typed and not closers:
        return offer
    left = tuple(
        Insert(each.text[len(typed) :], each.replaced + len(closers), each.score)
        for each in offer.inserts
        if each.text.startswith(typed) and _closes(each.text[len(typed) :], closers)
    )
    return Offer(text, cursor, offer.n_drawn, left) if left else None


def _closes(text: str, closers: str) -> bool:
    return text != closers and closers in text
