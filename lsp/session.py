"""One client's session: the server's parts, and what moves between them."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types as lsp_types
from pygls.lsp.server import LanguageServer

from niello.infill.errors import NielloError

from .access import LOST, refusal
from .actions import Actions
from .completion import Completion
from .documents import Document, Documents, spelling, to_path
from .following import Following
from .holder import Holder, LoadFiller
from .inline import Inline
from .layers import PROJECT_FILES, Layer, Layers, read_project
from .logs import set_log_level
from .offers import Offers
from .protocol import Protocol, Refusal
from .settings import Settings
from .status import Progress, Status
from .surroundings import Surroundings
from .trees import Trees

logger = logging.getLogger(__name__)

_PATIENCE = 3.0  # seconds for the client to tell its settings before a model is loaded

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
        self.surroundings = Surroundings(self.documents, layers)
        self.offers = Offers(self.holder, self.trees, self.surroundings)
        parts = (self.documents, self.offers, layers, self.status)
        self.inline = Inline(*parts)
        self.completion = Completion(*parts)
        self.actions = Actions(self)
        self.following = Following(self)
        self.left: asyncio.Future[int] | None = None
        self._reading: asyncio.Future[None] | None = None
        self._started = False
        self._pull = pull

    def begin(self, params: lsp_types.InitializeParams, encoding: str) -> None:
        """Take over what the client says of itself."""
        self.process_id = params.process_id
        self.documents.encoding = encoding  # type: ignore[assignment]  # one of three
        folders = [each.uri for each in params.workspace_folders or []]
        self.layers.set_roots(folders or [each for each in [params.root_uri] if each])
        document = params.capabilities.text_document
        self.completion.has_ghost_text = bool(document and document.inline_completion)
        self._apply(
            partial(self.layers.update, "client", params.initialization_options)
        )

    def settings_of(self, uri: str) -> Settings:
        """Return the settings that hold for a document."""
        document = self.documents.find(uri)
        return self.layers.at(uri if document is None else document.home)

    def leave(self, code: int) -> None:
        """End the process with ``code``."""
        if self.left is not None and not self.left.done():
            self.left.set_result(code)

    def start(self) -> None:
        """Read the settings of project and client, then load the engine they name."""
        self.holder.load(self._first_settings())

    def start_reading_settings(self) -> None:
        """Begin to ask project and client for settings anew."""
        self._reading = asyncio.ensure_future(self._read_settings())

    async def _first_settings(self) -> Settings:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._read_settings(), _PATIENCE)
        self._registering = asyncio.ensure_future(self._register())
        self._started = True
        return self.layers.settings

    async def _read_settings(self) -> None:
        for root in self.layers.roots:
            if path := to_path(root):
                project = await asyncio.to_thread(read_project, Path(path))
                self._replace("project", project, root)
        if not self._can_be_asked:
            return
        roots = self.layers.roots or ("",)
        items = [lsp_types.ConfigurationItem(root or None, "niello") for root in roots]
        asked = lsp_types.ConfigurationParams(items)
        try:
            answers = await self.workspace_configuration_async(asked)
        except Refusal:
            return
        for root, answer in zip(roots, _list(answers), strict=False):
            # A client that answers null keeps what its initializationOptions said.
            if answer is not None:
                self._replace("client", answer, root)

    @property
    def _can_be_asked(self) -> bool:
        workspace = self.client_capabilities.workspace
        return bool(workspace and workspace.configuration)

    def _replace(self, layer: Layer, raw: Any, root: str) -> None:
        # The folder may have gone while its settings were read.
        if root in ("", *self.layers.roots):
            self._apply(partial(self.layers.replace, layer, raw, root))

    async def _register(self) -> None:
        """Ask the client to tell of settings that change."""
        workspace = self.client_capabilities.workspace
        pushed = workspace and workspace.did_change_configuration
        watched = workspace and workspace.did_change_watched_files
        wanted: list[lsp_types.Registration] = []
        if pushed and pushed.dynamic_registration:
            method = lsp_types.WORKSPACE_DID_CHANGE_CONFIGURATION
            options: Any = lsp_types.DidChangeConfigurationRegistrationOptions("niello")
            wanted.append(lsp_types.Registration(method, method, options))
        if watched and watched.dynamic_registration:
            method = lsp_types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            watchers = [
                lsp_types.FileSystemWatcher(f"**/{name}") for name in PROJECT_FILES
            ]
            options = lsp_types.DidChangeWatchedFilesRegistrationOptions(watchers)
            wanted.append(lsp_types.Registration(method, method, options))
        if wanted:
            asked = lsp_types.RegistrationParams(wanted)
            with contextlib.suppress(Refusal):
                await self.client_register_capability_async(asked)

    def change_roots(self, event: lsp_types.WorkspaceFoldersChangeEvent) -> None:
        """Take over folders that came and went."""
        gone = {each.uri for each in event.removed}
        roots = [each for each in self.layers.roots if each not in gone]
        roots += [each.uri for each in event.added if each.uri not in roots]
        self._apply(partial(self._set_roots, roots))
        self.start_reading_settings()

    def _set_roots(self, roots: list[str]) -> list[str]:
        self.layers.set_roots(roots)
        return []

    def change_settings(self, raw: Any) -> None:
        """Apply what a client pushes; ask for it if that is nothing or not enough."""
        if isinstance(raw, dict) and isinstance(raw.get("niello"), dict):
            raw = raw["niello"]
        # What is pushed says nothing of single folders.
        if not raw or (len(self.layers.roots) > 1 and self._can_be_asked):
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
            self._drop_work(document.uri)
            self.offers.changed(document)
            # What others were offered saw another text. What this one was offered
            # stays: it may be what is being typed.
            if self.surroundings.is_seen(document):
                self.offers.forget_others(document.uri)
            self.inline.changed(document)
            self.following.changed(document, document.before)
            self.warm(document, document.changed_at)

    def _drop_work(self, uri: str) -> None:
        for kind in ("", " edit", " next"):
            self.holder.jobs.drop(spelling(uri) + kind)

    def warm(self, document: Document, cursor: int) -> None:
        """Get ready for a question at ``cursor``."""
        settings = self.layers.at(document.home)
        if settings.inline.enabled and not refusal(document, settings):
            self.offers.warm_soon(document.snapshot(), cursor, settings)

    def closed(self, uri: str) -> None:
        """Forget a document."""
        self.documents.close(uri)
        self._drop_work(uri)
        self.offers.forget(uri)
        self.surroundings.forget(uri)
        self.inline.closed(uri)
        self.following.closed(uri)
        self.actions.closed(uri)

    def lose(self, params: Any) -> None:
        """Leave alone what a change that cannot be read is for, until it is sent whole.

        ``params`` are the message's, as they came.
        """
        told = params if isinstance(params, dict) else {}
        for kind in ("textDocument", "notebookDocument"):
            uri = told[kind].get("uri") if isinstance(told.get(kind), dict) else None
            if not isinstance(uri, str):
                continue
            for document in [self.documents.find(uri), *self.documents.cells_of(uri)]:
                if document is not None:
                    document.is_lost = True
                    self._drop_work(document.uri)
                    self.status.say(
                        f"Niello, {Path(unquote(document.uri)).name}: {LOST}."
                    )

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
        before, everywhere = self.layers.settings, dict(self.layers.by_root)
        for each in change():
            self.status.say(each)
        after = self.layers.settings
        if self.layers.by_root != everywhere:
            self.offers.forget()
            set_log_level(after.log)
        engine = ("model", "threads", "check")
        changed = any(getattr(before, each) != getattr(after, each) for each in engine)
        if changed and self._started:
            self.holder.load(after)


def _list(raw: Any) -> list[Any]:
    return raw if isinstance(raw, list) else []


def _version() -> str:
    try:
        return version("niello")
    except PackageNotFoundError:  # It runs from a checkout that was not installed.
        return "0"
