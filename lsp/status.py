"""What the user is told: state and reason, progress of long work, messages said once.

Nothing said here or logged anywhere holds the user's code. Everything is sent from the
event loop; other threads go through ``call_soon_threadsafe``.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from lsprotocol import types as lsp_types

if TYPE_CHECKING:
    from .session import NielloServer

logger = logging.getLogger(__name__)

STATUS = "niello/status"
Kind = Literal["loading", "ready", "busy", "disabled", "error"]
Progress = Callable[[str, float | None], None]
"""Says what is being done and which fraction of it, None if nobody knows."""


class Status:
    """The state of the server as clients show it."""

    def __init__(self, server: "NielloServer") -> None:
        """Begin with nothing said."""
        self._server = server
        self._said: set[str] = set()
        self._last: dict[str, Any] = {}
        self._bar: _Bar | None = None

    def loading(self, message: str, fraction: float | None) -> None:
        """Say that the engine is getting ready."""
        percent = None if fraction is None else min(max(round(fraction * 100), 0), 100)
        self._tell("loading", message, percent=percent)
        if self._bar is None:
            self._bar = _Bar(self._server)
        self._bar.report(message, percent)

    def ready(self) -> None:
        """Say that requests will be answered."""
        self._close_bar()
        self._tell("ready", "ready")

    def busy(self) -> None:
        """Say that the engine works for the user."""
        self._tell("busy", "filling")

    def disabled(self, reason: str, uri: str) -> None:
        """Say why a document is left alone."""
        self._tell("disabled", reason, uri=uri)

    def error(self, message: str) -> None:
        """Say what is wrong and what to do, as state and, once, as a message."""
        self._close_bar()
        self._tell("error", message)
        self.say(message, lsp_types.MessageType.Error)

    def nothing(self) -> None:
        """Say that an edit was asked for and nothing is good enough."""
        message = "Niello found nothing good enough to put there."
        self._server.window_show_message(
            lsp_types.ShowMessageParams(lsp_types.MessageType.Info, message)
        )

    def say(
        self, message: str, kind: lsp_types.MessageType = lsp_types.MessageType.Warning
    ) -> None:
        """Show a message to the user, unless it was shown before."""
        logger.warning("%s", message)
        if message not in self._said:
            self._said.add(message)
            self._server.window_show_message(
                lsp_types.ShowMessageParams(type=kind, message=message)
            )

    def _tell(self, kind: Kind, message: str, **more: Any) -> None:
        state = {"kind": kind, "message": message}
        state |= {name: value for name, value in more.items() if value is not None}
        if state != self._last:
            self._last = state
            self._server.protocol.notify(STATUS, state)

    def _close_bar(self) -> None:
        if self._bar is not None:
            self._bar.end()
            self._bar = None


class _Bar:
    """One work-done progress; every begin has its end, and a token is used once."""

    def __init__(self, server: "NielloServer") -> None:
        self._server = server
        self._token = str(uuid.uuid4())
        self._open = self._ended = False
        window = server.client_capabilities.window
        if window is not None and window.work_done_progress:
            self._opening = asyncio.ensure_future(self._begin())

    async def _begin(self) -> None:
        create = lsp_types.WorkDoneProgressCreateParams(self._token)
        try:
            await self._server.window_work_done_progress_create_async(create)
        except Exception as error:  # A client that refuses goes without a bar.
            logger.info("the client shows no progress: %s", type(error).__name__)
            return
        if not self._ended:
            self._open = True
            self._send(lsp_types.WorkDoneProgressBegin(title="Niello", percentage=0))

    def report(self, message: str, percent: int | None) -> None:
        if self._open:
            self._send(
                lsp_types.WorkDoneProgressReport(message=message, percentage=percent)
            )

    def end(self) -> None:
        self._ended = True
        if self._open:
            self._open = False
            self._send(lsp_types.WorkDoneProgressEnd())

    def _send(self, value: Any) -> None:
        self._server.progress(lsp_types.ProgressParams(self._token, value))
