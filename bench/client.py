"""A language client for measurements and tests: plain calls against a real process."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Message = dict[str, Any]
Position = tuple[int, int]


class Client:
    """Speaks to one server process over its pipes; answers are kept by id."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> None:
        """Start the server; its standard error goes to ``log``, or nowhere."""
        with open(log or os.devnull, "wb") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
            )
        self.replies: dict[Any, list[Message]] = {}
        self.arrived: dict[Any, float] = {}  # when a reply came, by a monotonic clock
        self.notes: list[Message] = []
        self.settings: Any = None  # the answer to workspace/configuration
        self.scoped: dict[str, Any] = {}  # another answer, by the folder asked about
        self._last_id = 1000
        self._news = threading.Condition()
        self._reading, self._ended = True, False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: Message) -> float:
        """Send one message as it is and return the time."""
        body = json.dumps(message).encode()
        now = time.monotonic()
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        return now

    def write(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def forget(self) -> None:
        """Drop what was kept of earlier notifications and replies."""
        with self._news:
            self.notes.clear()
            self.replies.clear()
            self.arrived.clear()

    def notify(self, method: str, params: Any) -> float:
        """Send a notification."""
        return self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any, request_id: Any = None) -> Any:
        """Send a request and return its id."""
        if request_id is None:
            self._last_id += 1
            request_id = self._last_id
        self.send(
            {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        )
        return request_id

    def wait(self, request_id: Any, seconds: float = 30.0) -> Message:
        """Return the reply to a request, or raise TimeoutError."""
        with self._news:
            self._news.wait_for(
                lambda: request_id in self.replies or self._ended, seconds
            )
            if request_id not in self.replies:
                raise TimeoutError(f"no reply to {request_id}")
            return self.replies[request_id][0]

    def request(self, method: str, params: Any, seconds: float = 30.0) -> Any:
        """Ask, wait, and return the result."""
        reply = self.wait(self.ask(method, params), seconds)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']}")
        return reply["result"]

    def wait_for_note(
        self, method: str, seconds: float = 30.0, **fields: Any
    ) -> Message:
        """Return the first notification of ``method`` whose params hold ``fields``."""

        def find() -> Message | None:
            for each in self.notes:
                params = each.get("params") or {}
                if each["method"] == method and fields.items() <= params.items():
                    return each
            return None

        with self._news:
            if not self._news.wait_for(find, seconds):
                raise TimeoutError(f"no {method} {fields}")
            found = find()
            assert found is not None
            return found

    def initialize(self, **params: Any) -> Message:
        """Do the opening of the protocol and return the server's answer."""
        params = {"processId": None, "rootUri": None, "capabilities": {}} | params
        answer: Message = self.request("initialize", params)
        self.notify("initialized", {})
        return answer

    def open(self, uri: str, text: str, language: str = "python") -> None:
        """Open a document at version 1."""
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(
        self, uri: str, version: int, start: Position, end: Position, text: str
    ) -> float:
        """Replace a range; positions are line and character."""
        area = {"start": as_position(start), "end": as_position(end)}
        changes = [{"range": area, "text": text}]
        document = {"uri": uri, "version": version}
        return self.notify(
            "textDocument/didChange",
            {"textDocument": document, "contentChanges": changes},
        )

    def ask_inline(self, uri: str, position: Position, automatic: bool = False) -> Any:
        """Ask for ghost text and return the request's id."""
        return self.ask(
            "textDocument/inlineCompletion", inline_params(uri, position, automatic)
        )

    def inline(
        self, uri: str, position: Position, automatic: bool = False
    ) -> list[Message]:
        """Ask for ghost text and return the items."""
        params = inline_params(uri, position, automatic)
        items: list[Message] = self.request("textDocument/inlineCompletion", params)[
            "items"
        ]
        return items

    def close(self) -> int:
        """End the server in good order and return its exit status."""
        self.wait(self.ask("shutdown", None))
        self.notify("exit", None)
        return self.process.wait(10)

    def kill(self) -> None:
        """End the server however it is."""
        self.process.kill()
        self.process.wait()

    def close_reader(self) -> None:
        """Close the end of the pipe from which answers are read."""
        assert self.process.stdout is not None
        self._reading = False
        # The reader has the pipe's lock while it waits; one more answer frees it.
        self.ask("workspace/executeCommand", {"command": ""})
        self._reader.join(5)
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while self._reading and (header := self.process.stdout.readline()):
            length = int(header.split(b":")[1])
            while self.process.stdout.readline().strip():
                pass
            self._take(json.loads(self.process.stdout.read(length)))
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _take(self, message: Message) -> None:
        now = time.monotonic()
        with self._news:
            if "method" not in message:
                self.replies.setdefault(message["id"], []).append(message)
                self.arrived.setdefault(message["id"], now)
            else:
                self.notes.append(message)
            self._news.notify_all()
        if "method" in message and "id" in message:
            pulled = message["method"] == "workspace/configuration"
            items = message["params"]["items"] if pulled else []
            result = [
                self.scoped.get(each.get("scopeUri"), self.settings) for each in items
            ]
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": result or None})


def as_position(position: Position) -> Message:
    """Return a position as the protocol writes it."""
    return {"line": position[0], "character": position[1]}


def inline_params(uri: str, position: Position, automatic: bool) -> Message:
    """Return the parameters of a request for ghost text."""
    return {
        "textDocument": {"uri": uri},
        "position": as_position(position),
        "context": {"triggerKind": 2 if automatic else 1},
    }
