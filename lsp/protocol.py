"""Messages to handlers and answers back; every request is answered exactly once.

pygls keeps the tables of handlers, capabilities and types. Its own dispatch is not
used: it leaves a request with wrong parameters unanswered and begins an async handler
after later messages have been applied. Here a handler is a plain function. What must be
seen at the time of the request, above all the document's text, it takes at once; for
the rest it returns an awaitable, which a cancellation ends.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types as lsp_types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.protocol import LanguageServerProtocol

from .tolerance import tolerated, without_unreadable
from .wire import Wire

if TYPE_CHECKING:
    from .session import NielloServer

logger = logging.getLogger(__name__)

Id = int | str | None
T = TypeVar("T")

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
NOT_INITIALIZED, CANCELLED = -32002, -32800


_CHANGES = (
    lsp_types.TEXT_DOCUMENT_DID_CHANGE,
    lsp_types.NOTEBOOK_DOCUMENT_DID_CHANGE,
)


class Refusal(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        """Keep the code of the protocol and a sentence for the client."""
        super().__init__(message)
        self.code = code


class Protocol(LanguageServerProtocol):
    """The protocol's state: from the first message to exit."""

    _server: "NielloServer"

    def __init__(self, server: "NielloServer", converter: Any) -> None:
        """Begin before ``initialize``; ``wire`` is set by who connects."""
        super().__init__(server, converter)
        self.wire: Wire | None = None
        self._initialized = False
        self._running: dict[Id, asyncio.Task[Any]] = {}
        self._own: dict[str, Callable[[Any], Any]] = {
            lsp_types.INITIALIZE: self._initialize,
            lsp_types.SHUTDOWN: self._end_work,
            lsp_types.EXIT: self._exit,
            lsp_types.WORKSPACE_EXECUTE_COMMAND: self._execute,
        }

    @property
    def is_shut_down(self) -> bool:
        """Whether the client has asked for the end."""
        return self._shutdown

    def receive(self, message: Any, cancelled: bool) -> None:
        """Handle one decoded message; never raises."""
        if not isinstance(message, dict):
            code = PARSE_ERROR if message is None else INVALID_REQUEST
            self._refuse(None, Refusal(code, "a message must be one JSON object"))
        elif isinstance(message.get("method"), str):
            if "id" not in message:
                self._take_notification(message)
            elif not isinstance(message["id"], int | str):
                refusal = Refusal(INVALID_REQUEST, "an id must be a number or a text")
                self._refuse(None, refusal)
            elif cancelled:
                self._refuse(message["id"], Refusal(CANCELLED, "cancelled"))
            else:
                self._take_request(message["id"], message)
        elif isinstance(message.get("id"), int | str) and (
            "result" in message or "error" in message
        ):
            self._take_response(message)
        else:
            refusal = Refusal(INVALID_REQUEST, "a request must name a method")
            self._refuse(None, refusal)

    def _take_request(self, request_id: Id, message: dict[str, Any]) -> None:
        try:
            method = message["method"]
            if not self._initialized and method != lsp_types.INITIALIZE:
                raise Refusal(NOT_INITIALIZED, "initialize comes first")
            if self._shutdown or (self._initialized and method == lsp_types.INITIALIZE):
                raise Refusal(INVALID_REQUEST, f"{method} comes too late")
            result = self._find(method)(self._params(message))
        except Refusal as refusal:
            self._refuse(request_id, refusal)
        except Exception as error:
            self._fail(request_id, message["method"], error)
        else:
            if inspect.isawaitable(result):
                task = asyncio.ensure_future(result)
                self._running[request_id] = task
                task.add_done_callback(
                    partial(self._finish, request_id, message["method"])
                )
            else:
                self._answer(request_id, result)

    def _finish(self, request_id: Id, method: str, task: asyncio.Task[Any]) -> None:
        if self._running.get(request_id) is task:
            del self._running[request_id]
        if task.cancelled():
            self._refuse(request_id, Refusal(CANCELLED, "cancelled"))
        elif (error := task.exception()) is None:
            self._answer(request_id, task.result())
        elif isinstance(error, Refusal):
            self._refuse(request_id, error)
        else:
            self._fail(request_id, method, error)

    def _take_notification(self, message: dict[str, Any]) -> None:
        method = message["method"]
        if method == lsp_types.CANCEL_REQUEST:
            params = message.get("params")
            request_id = params.get("id") if isinstance(params, dict) else None
            if isinstance(request_id, int | str) and request_id in self._running:
                self._running[request_id].cancel()
        elif (self._initialized and not self._shutdown) or method == lsp_types.EXIT:
            try:
                self._find(method)(self._params(message))
            except Refusal as refusal:
                logger.warning("passed over %s: %s", method, refusal)
                if method in _CHANGES:
                    self._server.lose(message.get("params"))
            except Exception as error:
                report(method, error)

    def _take_response(self, message: dict[str, Any]) -> None:
        self._result_types.pop(message["id"], None)
        future = self._request_futures.pop(message["id"], None)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(Refusal(INTERNAL_ERROR, "the client refused"))
        else:
            future.set_result(message["result"])

    def _find(self, method: str) -> Callable[[Any], Any]:
        handler = self._own.get(method) or self.fm.features.get(method)
        if handler is None:
            raise Refusal(METHOD_NOT_FOUND, f"no such method: {method[:100]}")
        found: Callable[[Any], Any] = handler
        return found

    def _params(self, message: dict[str, Any]) -> Any:
        message_type = lsp_types.METHOD_TO_TYPES.get(message["method"], (None,))[0]
        if message_type is None:
            return message.get("params")
        told: dict[str, Any] | None = tolerated(message)
        while told is not None:
            try:
                return self._converter.structure(told, message_type).params
            except Exception as error:  # What cattrs raises depends on what is wrong.
                told, reason = without_unreadable(told, error), error
        sentence = f"wrong parameters for {message['method']}"
        raise Refusal(INVALID_PARAMS, sentence) from reason

    def structured(self, raw: Any, kind: type[T]) -> T:
        """Return ``raw`` as a type of the protocol, or raise what cattrs raises."""
        found: T = self._converter.structure(raw, kind)
        return found

    def _answer(self, request_id: Id, result: Any) -> None:
        self._send_data({"jsonrpc": "2.0", "id": request_id, "result": result})

    def _refuse(self, request_id: Id, refusal: Refusal) -> None:
        error = {"code": refusal.code, "message": str(refusal)}
        self._send_data({"jsonrpc": "2.0", "id": request_id, "error": error})

    def _fail(self, request_id: Id, method: str, error: BaseException) -> None:
        report(method, error)
        self._refuse(
            request_id, Refusal(INTERNAL_ERROR, f"{method} failed; see the log")
        )

    def _send_data(self, data: Any) -> None:
        if self.wire is not None:
            self.wire.send(data, self._serialize_message)

    def _initialize(
        self, params: lsp_types.InitializeParams
    ) -> lsp_types.InitializeResult:
        self._initialized = True
        self.client_capabilities = params.capabilities
        encoding = ServerCapabilitiesBuilder.choose_position_encoding(
            params.capabilities
        )
        self._server.begin(params, encoding)
        builder = ServerCapabilitiesBuilder(
            self.client_capabilities,
            {*self.fm.features, *self._own},
            self.fm.feature_options,
            list(self.fm.commands),
            self._server._text_document_sync_kind,
            self._server._notebook_document_sync,
            encoding,
        )
        self.server_capabilities = builder.build()  # type: ignore[no-untyped-call]
        return lsp_types.InitializeResult(self.server_capabilities, self.server_info)

    def _end_work(self, params: object) -> None:
        self._shutdown = True
        for task in list(self._running.values()):
            task.cancel()

    def _exit(self, params: object) -> None:
        self._server.leave(0 if self._shutdown else 1)

    def _execute(self, params: lsp_types.ExecuteCommandParams) -> Any:
        command = self.fm.commands.get(params.command)
        if command is None:
            raise Refusal(INVALID_PARAMS, f"no such command: {params.command[:100]}")
        return command(*(params.arguments or []))


def report(what: str, error: BaseException) -> None:
    """Log an exception without its text, which may hold the user's code."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = ""
    if place is not None:
        where = f" at {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
    logger.error("%s failed: %s%s", what, type(error).__name__, where)
    logger.debug("%s failed", what, exc_info=error)
