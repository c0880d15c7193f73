"""The language server: which message goes to which part."""

from collections.abc import Awaitable
from dataclasses import asdict
from typing import Any

from lsprotocol import types as lsp_types

from .actions import COMMAND, KINDS
from .completion import TRIGGERS
from .following import NEXT_EDIT
from .holder import LoadFiller
from .jobs import Priority
from .layers import PROJECT_FILES, Layers
from .logs import log_file
from .session import NielloServer, PullModel


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
        # A client that opens a document anew without closing it means another text.
        server.closed(params.text_document.uri)
        documents.open(params.text_document)

    @server.feature(lsp_types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp_types.DidChangeTextDocumentParams) -> None:
        server.changed(documents.change(params))

    @server.feature(lsp_types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp_types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(lsp_types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp_types.DidSaveTextDocumentParams) -> None:
        """Read the settings anew when somebody has edited them here."""
        if params.text_document.uri.endswith(PROJECT_FILES):
            server.start_reading_settings()

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
        server.start()

    @server.feature(lsp_types.SET_TRACE)
    def set_trace(params: lsp_types.SetTraceParams) -> None:
        """Take the trace level and ignore it: the log has its own setting."""

    @server.feature(lsp_types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(
        params: lsp_types.DidChangeConfigurationParams,
    ) -> None:
        server.change_settings(params.settings)

    @server.feature(lsp_types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: lsp_types.DidChangeWatchedFilesParams) -> None:
        server.start_reading_settings()

    @server.feature(lsp_types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_folders(params: lsp_types.DidChangeWorkspaceFoldersParams) -> None:
        server.change_roots(params.event)

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

    @server.feature(NEXT_EDIT)
    def next_edit(params: Any) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        return server.following.answer(params)

    @server.feature("niello/idle")
    def idle(params: Any) -> Awaitable[None]:
        """Answer as soon as the engine could begin something new."""
        return server.holder.jobs.submit(lambda stop: None, Priority.INTERACTIVE)

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
