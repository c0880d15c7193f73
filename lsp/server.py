"""The language server: its parts, and which message goes to which of them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp_types
from pygls.lsp.server import LanguageServer

from niello.infill.errors import NielloError

from .actions import COMMAND, KINDS, Actions
from .completion import TRIGGERS, Completion
from .documents import Document, Documents, spelling, to_path
from .holder import Holder, LoadFiller
from .inline import Inline
from .layers import Layers, read_project
from .logs import log_file, set_log_level
from .offers import Offers
from .protocol import Protocol
from .settings import Settings
from .status import Progress, Status
from .trees import Trees

logger = logging.getLogger(__name__)

PullModel = Callable[[Settings, Progress], None]


class NielloServer(LanguageServer):
    """The server's parts, put together."""

    protocol: Protocol

    def __init__(
        self, load: LoadFiller, layers: Layers, pull: PullModel | None = None
    ) -> None:
        """Put the parts together; nothing runs and nothing is loaded yet."""
        super().__init__(
            "niello",
            _version(),
            lsp_types.TextDocumentSyncKind.Incremental,
            lsp_types.NotebookDocumentSyncOptions(
                [lsp_types.NotebookDocumentFilterWithNotebook("*")]
            ),
            protocol_cls=Protocol,
        )
        self.layers = layers
        self.documents = Documents()
        self.status = Status(self)
        self.holder = Holder(load, self.status)
        self.trees = Trees()
        self.offers = Offers(self.holder, self.trees)
        parts = (self.documents, self.offers, layers, self.status)
        self.inline = Inline(*parts)
        self.completion = Completion(*parts)
        self.actions = Actions(self)
        self.left: asyncio.Future[int] | None = None
        self.roots: list[str] = []
        self._reading: asyncio.Future[None] | None = None
        self._pull = pull

    def begin(self, params: lsp_types.InitializeParams, encoding: str) -> None:
        """Take over what the client says of itself."""
        self.process_id = params.process_id
        self.documents.encoding = encoding  # type: ignore[assignment]  # one of three
        folders = [each.uri for each in params.workspace_folders or []]
        self.roots = folders or [each for each in [params.root_uri] if each]
        document = params.capabilities.text_document
        self.completion.has_ghost_text = bool(document and document.inline_completion)
        self._warn(self.layers.update("client", params.initialization_options))

    def leave(self, code: int) -> None:
        """End the process with ``code``."""
        if self.left is not None and not self.left.done():
            self.left.set_result(code)

    def start_reading_settings(self) -> None:
        """Begin to ask project and client for settings."""
        self._reading = asyncio.ensure_future(self._read_settings())

    async def _read_settings(self) -> None:
        for root in self.roots:
            path = to_path(root)
            project = await asyncio.to_thread(read_project, Path(path)) if path else {}
            if project:
                self._apply(partial(self.layers.replace, "project", project))
                break
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            item = lsp_types.ConfigurationItem(section="niello")
            asked = lsp_types.ConfigurationParams([item])
            try:
                answers = await self.workspace_configuration_async(asked)
            except Exception as error:  # The client may refuse, or be gone.
                logger.info("no configuration: %s", type(error).__name__)
                return
            if isinstance(answers, list) and answers:
                self._apply(partial(self.layers.replace, "client", answers[0]))

    def change_settings(self, raw: Any) -> None:
        """Apply what a client pushes, or ask for it if it pushes nothing."""
        if isinstance(raw, dict) and isinstance(raw.get("niello"), dict):
            raw = raw["niello"]
        if not raw:
            self.start_reading_settings()
        self._apply(partial(self.layers.update, "client", raw))

    def forget(self) -> None:
        """Drop caches of every kind."""
        self.offers.forget()
        self.holder.forget()

    def restart(self) -> None:
        """Load the engine anew."""
        self.offers.forget()
        self.holder.load(self.layers.settings)

    def changed(self, document: Document | None) -> None:
        """Stop work on a text that is no more."""
        if document is not None:
            self.holder.jobs.drop(spelling(document.uri))
            self.inline.changed(document)

    def closed(self, uri: str) -> None:
        """Forget a document."""
        self.documents.close(uri)
        self.holder.jobs.drop(spelling(uri))
        self.offers.forget(uri)
        self.inline.closed(uri)

    async def pull(self) -> None:
        """Fetch the model that the settings name, then load it."""
        if self._pull is None:
            return
        loop, settings = asyncio.get_running_loop(), self.layers.settings

        def progress(message: str, fraction: float | None) -> None:
            loop.call_soon_threadsafe(self.status.loading, message, fraction)

        try:
            await asyncio.to_thread(self._pull, settings, progress)
        except NielloError as error:
            self.status.error(str(error))
        else:
            self.restart()

    def _apply(self, change: Callable[[], list[str]]) -> None:
        before = self.layers.settings
        self._warn(change())
        after = self.layers.settings
        if after != before:
            self.offers.forget()
            set_log_level(after.log)
        engine = ("model", "threads", "check")
        if any(getattr(before, each) != getattr(after, each) for each in engine):
            self.holder.load(after)

    def _warn(self, warnings: list[str]) -> None:
        for each in warnings:
            self.status.say(each)


def create_server(
    load_filler: LoadFiller, layers: Layers, pull: PullModel | None = None
) -> NielloServer:
    """Return a server that is not connected yet.

    ``load_filler`` is called on the engine's thread, after the client is ready.
    """
    server = NielloServer(load_filler, layers, pull)
    _add_documents(server)
    _add_features(server)
    _add_commands(server)
    return server


def _add_documents(server: NielloServer) -> None:
    documents = server.documents

    @server.feature(lsp_types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp_types.DidOpenTextDocumentParams) -> None:
        documents.open(params.text_document)

    @server.feature(lsp_types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp_types.DidChangeTextDocumentParams) -> None:
        server.changed(documents.change(params))

    @server.feature(lsp_types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp_types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(lsp_types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_did_open(params: lsp_types.DidOpenNotebookDocumentParams) -> None:
        documents.open_notebook(params)

    @server.feature(lsp_types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_did_change(params: lsp_types.DidChangeNotebookDocumentParams) -> None:
        for document in documents.change_notebook(params):
            server.changed(document)

    @server.feature(lsp_types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_did_close(params: lsp_types.DidCloseNotebookDocumentParams) -> None:
        for uri in documents.close_notebook(params):
            server.closed(uri)


def _add_features(server: NielloServer) -> None:
    @server.feature(lsp_types.INITIALIZED)
    def initialized(params: lsp_types.InitializedParams) -> None:
        server.holder.load(server.layers.settings)
        server.start_reading_settings()

    @server.feature(lsp_types.SET_TRACE)
    def set_trace(params: lsp_types.SetTraceParams) -> None:
        """Take the trace level and ignore it: the log has its own setting."""

    @server.feature(lsp_types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(
        params: lsp_types.DidChangeConfigurationParams,
    ) -> None:
        server.change_settings(params.settings)

    # pygls advertises this one only if it is given options.
    @server.feature(
        lsp_types.TEXT_DOCUMENT_INLINE_COMPLETION, lsp_types.InlineCompletionOptions()
    )
    def inline_completion(
        params: lsp_types.InlineCompletionParams,
    ) -> lsp_types.InlineCompletionList | Awaitable[lsp_types.InlineCompletionList]:
        return server.inline.answer(params)

    @server.feature(
        lsp_types.TEXT_DOCUMENT_COMPLETION,
        lsp_types.CompletionOptions(trigger_characters=TRIGGERS, resolve_provider=True),
    )
    def completion(
        params: lsp_types.CompletionParams,
    ) -> lsp_types.CompletionList | Awaitable[lsp_types.CompletionList]:
        return server.completion.answer(params)

    @server.feature(lsp_types.COMPLETION_ITEM_RESOLVE)
    def resolve(item: lsp_types.CompletionItem) -> lsp_types.CompletionItem:
        return server.completion.resolve(item)

    @server.feature(
        lsp_types.TEXT_DOCUMENT_CODE_ACTION,
        lsp_types.CodeActionOptions(
            sorted({each.kind for each in KINDS.values()}), resolve_provider=True
        ),
    )
    def code_action(
        params: lsp_types.CodeActionParams,
    ) -> list[lsp_types.CodeAction] | Awaitable[list[lsp_types.CodeAction]]:
        return server.actions.answer(params)

    @server.feature(lsp_types.CODE_ACTION_RESOLVE)
    def resolve_action(action: lsp_types.CodeAction) -> Awaitable[lsp_types.CodeAction]:
        return server.actions.resolve(action)

    @server.feature("niello/counters")
    def counters(params: Any) -> dict[str, int]:
        return asdict(server.holder.counts)


def _add_commands(server: NielloServer) -> None:
    @server.command(COMMAND)
    def edit(*arguments: Any) -> Awaitable[bool]:
        return server.actions.run(*arguments)

    @server.command("niello.pullModel")
    def pull_model(*arguments: Any) -> Awaitable[None]:
        return server.pull()

    @server.command("niello.clearCache")
    def clear_cache(*arguments: Any) -> None:
        server.forget()

    @server.command("niello.restartEngine")
    def restart_engine(*arguments: Any) -> None:
        server.restart()

    @server.command("niello.showLog")
    def show_log(*arguments: Any) -> str:
        return str(log_file(server.layers.settings.log))


def _version() -> str:
    try:
        return version("niello")
    except PackageNotFoundError:  # It runs from a checkout that was not installed.
        return "0"
