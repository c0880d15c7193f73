"""In-place edits as code actions: listed cheaply, computed when one is chosen.

An edit carries the version of the document it was computed on. If the document has
moved on by then, the request is refused; ranges of an older text are never sent as new.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types as lsp_types

from niello.infill.canvas import Filler, StopFlag
from niello.infill.lines import is_blank, line_end
from niello.infill.parse import Parsed
from niello.infill.snapshot import Snapshot
from niello.infill.span import enclosing

from . import masks
from .access import refusal
from .documents import spelling
from .edits import Edit, MaskFilling
from .jobs import Priority
from .masks import Mask
from .offers import options_of
from .protocol import INVALID_PARAMS, Refusal
from .trees import Trees
from .workspace_edit import workspace_edit

if TYPE_CHECKING:
    from .session import NielloServer

CONTENT_MODIFIED, REQUEST_FAILED = -32801, -32803
COMMAND = "niello.edit"


class Kind(NamedTuple):
    """One of the edits on offer."""

    title: str
    kind: lsp_types.CodeActionKind
    find: Callable[[Parsed, int, int], list[Mask]] | None  # None: not by masks


_REWRITE = lsp_types.CodeActionKind.RefactorRewrite
_FIX = lsp_types.CodeActionKind.QuickFix
KINDS = {
    "syntax": Kind("Fix syntax error", _FIX, masks.broken_mask),
    "rewrite": Kind("Rewrite selection", _REWRITE, masks.selection_mask),
    "fill": Kind("Fill here", _REWRITE, masks.cursor_mask),
    "block": Kind("Complete this block", _REWRITE, masks.block_mask),
    "body": Kind(
        "Fill function body from its signature and docstring", _REWRITE, masks.body_mask
    ),
    "docstring": Kind("Write docstring", _REWRITE, masks.docstring_mask),
    "annotations": Kind("Add type annotations", _REWRITE, masks.annotation_masks),
    "next": Kind("Carry the last change on", _REWRITE, None),
    "markers": Kind("Fill every marker in file", _REWRITE, masks.marker_masks),
}


class Target(NamedTuple):
    """Where an edit is asked for, on which text."""

    kind: str
    snapshot: Snapshot
    start: int
    end: int
    instruction: str


class Actions:
    """Answers ``textDocument/codeAction``, its resolve, and the command behind it."""

    def __init__(self, server: "NielloServer") -> None:
        """Work on the server's own parts."""
        self._server = server
        # Looking for what can be edited needs a tree but no engine, which may be busy.
        self._reader = ThreadPoolExecutor(1, "niello reads")
        self._trees = Trees()
        self._newest: dict[str, Target] = {}

    def answer(
        self, params: lsp_types.CodeActionParams
    ) -> list[lsp_types.CodeAction] | Awaitable[list[lsp_types.CodeAction]]:
        """List the edits that are possible at a range."""
        document = self._server.documents.find(params.text_document.uri)
        if document is None or refusal(
            document, self._server.settings_of(document.uri)
        ):
            return []
        encoding = self._server.documents.encoding
        start = document.offset(params.range.start, encoding)
        end = document.offset(params.range.end, encoding)
        start, end = min(start, end), max(start, end)
        # Clients ask whenever the cursor has moved, which nothing else tells a server.
        self._server.warm(document, start)
        wanted = [
            name
            for name, each in KINDS.items()
            if not params.context.only
            or any(_covers(only, each.kind) for only in params.context.only)
        ]
        if not self._server.following.has_change(document):
            wanted = [name for name in wanted if name != "next"]
        return self._list(document.snapshot(), start, end, wanted)

    def closed(self, uri: str) -> None:
        """Forget a document."""
        self._newest.pop(f"{spelling(uri)} edit", None)

    async def resolve(self, action: lsp_types.CodeAction) -> lsp_types.CodeAction:
        """Compute the edit of an action."""
        action.edit = await self._compute(self._target(action.data))
        return action

    async def run(self, data: Any = None, *_: Any) -> bool:
        """Compute an edit and have the client apply it; the command of an action."""
        edit = await self._compute(self._target(data))
        if edit is None:
            return False
        title = KINDS[data["edit"]].title
        asked = lsp_types.ApplyWorkspaceEditParams(edit, label=title)
        answer = await self._server.workspace_apply_edit_async(asked)
        return bool(isinstance(answer, dict) and answer.get("applied"))

    async def _list(
        self, snapshot: Snapshot, start: int, end: int, wanted: list[str]
    ) -> list[lsp_types.CodeAction]:
        def look() -> list[str]:
            parsed = self._trees.parse(snapshot)
            return [name for name in _order(parsed, start, end) if name in wanted]

        loop = asyncio.get_running_loop()
        names = await loop.run_in_executor(self._reader, look)
        return [self._action(name, snapshot, start, end) for name in names]

    def _action(
        self, name: str, snapshot: Snapshot, start: int, end: int
    ) -> lsp_types.CodeAction:
        data = {
            "edit": name,
            "uri": snapshot.uri,
            "version": snapshot.version,
            "start": start,
            "end": end,
        }
        kind = KINDS[name]
        action = lsp_types.CodeAction(f"{kind.title} (Niello)", kind.kind, data=data)
        if not self._can_resolve():
            action.command = lsp_types.Command(kind.title, COMMAND, arguments=[data])
        return action

    def _can_resolve(self) -> bool:
        document = self._server.client_capabilities.text_document
        support = (
            document and document.code_action and document.code_action.resolve_support
        )
        return bool(support and "edit" in support.properties)

    def _target(self, data: Any) -> Target:
        """Read what an action or a client's own command asks for."""
        fields = data if isinstance(data, dict) else {}
        document = self._server.documents.find(str(fields.get("uri", "")))
        if document is None or fields.get("edit") not in KINDS:
            raise Refusal(INVALID_PARAMS, "name an open document and an edit")
        if reason := refusal(document, self._server.settings_of(document.uri)):
            raise Refusal(REQUEST_FAILED, reason)
        if fields.get("version", document.version) != document.version:
            raise Refusal(CONTENT_MODIFIED, "the document has changed; ask again")
        start, end = fields.get("start"), fields.get("end")
        if "range" in fields:
            try:
                area = self._server.protocol.structured(
                    fields["range"], lsp_types.Range
                )
            except Exception as error:
                raise Refusal(INVALID_PARAMS, "the range is none") from error
            encoding = self._server.documents.encoding
            start = document.offset(area.start, encoding)
            end = document.offset(area.end, encoding)
        if not isinstance(start, int) or not isinstance(end, int):
            raise Refusal(INVALID_PARAMS, "name a range")
        size = len(document.text)
        start, end = sorted((min(max(start, 0), size), min(max(end, 0), size)))
        instruction = str(fields.get("instruction") or "")
        return Target(fields["edit"], document.snapshot(), start, end, instruction)

    async def _compute(self, target: Target) -> lsp_types.WorkspaceEdit | None:
        server, snapshot = self._server, target.snapshot
        if target.kind == "next":
            edits = await server.following.edits(snapshot)
        else:
            edits = await self._fill(target)
        if not server.documents.is_current(snapshot):
            raise Refusal(CONTENT_MODIFIED, "the document has changed; ask again")
        if not edits:
            server.status.nothing()
            return None
        title = KINDS[target.kind].title
        encoding = server.documents.encoding
        return workspace_edit(
            snapshot, edits, title, server.client_capabilities, encoding
        )

    async def _fill(self, target: Target) -> list[Edit]:
        server, snapshot = self._server, target.snapshot
        find = KINDS[target.kind].find
        assert find is not None, "carrying on is not by masks"
        settings = server.settings_of(snapshot.uri)
        options = options_of(settings, 1)
        scene = server.surroundings.look(snapshot, settings)
        key = f"{spelling(snapshot.uri)} edit"

        def begin(filler: Filler, stop: StopFlag) -> MaskFilling:
            view = server.surroundings.view(scene, target.start)
            parsed = server.trees.parse(view.snapshot)
            first = view.start
            found = [
                each
                for each in find(parsed, first + target.start, first + target.end)
                if first <= each.start and each.end <= view.end
            ]
            if target.instruction:
                found = [each._replace(hint=target.instruction) for each in found]
            return MaskFilling(parsed, found, first, view.extra)

        def step(filler: Filler, stop: StopFlag) -> None:
            assert filling is not None
            filling.step(filler, options, stop)

        self._newest[key] = target
        filling = await server.holder.run(begin, key, Priority.BATCH)
        while filling and not filling.done:
            if self._newest.get(key) is not target:
                return []  # Another edit was asked for instead.
            if not server.documents.is_current(snapshot):
                break
            await server.holder.run(step, key, Priority.BATCH)
        return filling.edits if filling else []


def _order(parsed: Parsed, start: int, end: int) -> list[str]:
    """Return the names of the edits that find something to do, the likeliest first."""
    text = parsed.text
    found = [
        name
        for name, kind in KINDS.items()
        if kind.find is None or kind.find(parsed, start, end)
    ]
    in_comment = enclosing(parsed, start, ("comment",)) is not None or any(
        node.name == "comment" and node.start <= start <= node.end
        for node in parsed.captures("spans", start, start)
    )
    if in_comment:
        found = [name for name in found if name not in ("fill", "rewrite")]
    elif start == end and is_blank(text[start : line_end(text, start)]):
        found.sort(key=lambda name: name != "fill")
    return found


def _covers(only: str, kind: str) -> bool:
    # The empty kind is the root of all kinds.
    return not only or kind == only or kind.startswith(f"{only}.")
