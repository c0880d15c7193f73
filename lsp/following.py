"""Answers ``niello/nextEdit``: which change is followed, and the shape of edits."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp_types

from niello.infill.canvas import StopFlag
from niello.infill.snapshot import Snapshot

from .access import refusal
from .convert import Lines
from .counters import Counting
from .documents import Document, spelling
from .edits import Edit
from .jobs import Priority
from .next_edit import carry_on
from .offers import options_of
from .places import change_between
from .protocol import INVALID_PARAMS, Refusal
from .workspace_edit import to_range

if TYPE_CHECKING:
    from .session import NielloServer

NEXT_EDIT = "niello/nextEdit"
_MOST_LINES = 4  # a change over more lines is several, and the last one is followed


class Following:
    """Knows the last change of each document, and where it leads."""

    def __init__(self, server: "NielloServer") -> None:
        """Work on the server's own parts."""
        self._server = server
        self._before: dict[str, str] = {}  # each text as it was before its last change

    def changed(self, document: Document, before: str) -> None:
        """Take note of a change; keystrokes at one place are one change."""
        if not self._server.settings_of(document.uri).next_edit.enabled:
            self._before.pop(spelling(document.uri), None)
            return
        base = self._before.get(spelling(document.uri), before)
        change = change_between(base, document.text)
        if change is not None:
            touched = document.text[change.start : change.new_end]
            touched += change.before[change.start : change.old_end]
            if touched.count("\n") > _MOST_LINES:
                base = before
        self._before[spelling(document.uri)] = base

    def closed(self, uri: str) -> None:
        """Forget a document."""
        self._before.pop(spelling(uri), None)

    def has_change(self, document: Document) -> bool:
        """Whether there is a change to follow."""
        before = self._before.get(spelling(document.uri))
        return before is not None and before != document.text

    def answer(self, params: Any) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        """Answer the request; its parameters are those of copilotInlineEdit."""
        try:
            document = self._server.documents.find(params["textDocument"]["uri"])
        except (TypeError, KeyError) as error:
            raise Refusal(INVALID_PARAMS, "name a text document") from error
        if document is None or refusal(
            document, self._server.settings_of(document.uri)
        ):
            return {"edits": []}
        return self._shape(document.snapshot())

    async def edits(self, snapshot: Snapshot) -> list[Edit]:
        """Return the edits that carry the last change of a document on."""
        settings = self._server.settings_of(snapshot.uri)
        before = self._before.get(spelling(snapshot.uri))
        change = None if before is None else change_between(before, snapshot.text)
        if change is None or not settings.next_edit.enabled:
            return []
        options = options_of(settings, 1)._replace(room=32)

        def work(engine: Counting, stop: StopFlag) -> list[Edit]:
            if not engine.scores:
                return []
            parsed = self._server.trees.parse(snapshot)
            return carry_on(parsed, change, engine, settings.next_edit, options, stop)

        key = f"{spelling(snapshot.uri)} next"
        return await self._server.holder.run(work, key, Priority.BATCH) or []

    async def _shape(self, snapshot: Snapshot) -> dict[str, Any]:
        edits = await self.edits(snapshot)
        documents = self._server.documents
        if not edits or not documents.is_current(snapshot):
            return {"edits": []}
        lines = Lines(snapshot.text)
        identifier = lsp_types.VersionedTextDocumentIdentifier(
            snapshot.version, snapshot.uri
        )
        return {
            "edits": [
                {
                    "textDocument": identifier,
                    "range": to_range(snapshot.text, lines, each, documents.encoding),
                    "text": each.text,
                }
                for each in edits
            ]
        }
