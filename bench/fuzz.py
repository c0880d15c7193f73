"""Random messages against the real server: valid, mutated, out of order, cancelled.

A sequence is a handful of messages from a seeded generator. After each, every request
must have been answered exactly once and the server's texts must equal the client's.
"""

import argparse
import json
import random
import string
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .client import Client, Message
from .stub import start_scripted

_LETTERS = "ab(){}[]\"'# \t\n\r\f=:é漢🛰\u2028"
_VALUES: list[Any] = [
    None,
    True,
    -1,
    1.5,
    2**31,
    "",
    "x",
    [],
    [1],
    {},
    {"a": 1},
    10**20,
]
_COMMANDS = ["niello.clearCache", "niello.edit", "niello.showLog", "no.such"]


class Outcome(NamedTuple):
    """What a run found."""

    sequences: int
    messages: int
    requests: int
    seconds: float


def main(options: Sequence[str]) -> int:
    """Send sequences until one fails or there are enough."""
    parser = argparse.ArgumentParser("niello bench fuzz", description=__doc__)
    parser.add_argument("--sequences", type=int, default=20_000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    arguments = parser.parse_args(options)
    print(fuzz(arguments.sequences, arguments.seed))
    return 0


def fuzz(n_sequences: int, seed: int, seconds: float = float("inf")) -> Outcome:
    """Fuzz a fresh server whose model follows a script."""
    with tempfile.TemporaryDirectory() as folder:
        client = start_scripted(Path(folder), {"texts": ["b(c)\n", "d"]})
        try:
            client.initialize()
            client.wait_for_note("niello/status", kind="ready")
            found = Fuzz(client, seed).run(n_sequences, seconds)
            status = client.close()
        finally:
            client.kill()
        log = (Path(folder) / "stderr").read_text("utf-8")
    if status or "Traceback" in log:
        raise AssertionError(f"exit status {status}, log:\n{log[-4000:]}")
    return found


class Fuzz:
    """One client's view of a server under random messages."""

    def __init__(self, client: Client, seed: int) -> None:
        """Begin with a server that is initialized."""
        self.client = client
        self.random = random.Random(seed)
        self.texts: dict[str, str] = {}
        self.n_messages = self.n_requests = 0
        self._last_id = 10_000
        self._open_ids: list[Any] = []
        self._version = 1

    def run(self, n_sequences: int, seconds: float = float("inf")) -> Outcome:
        """Send sequences until there are enough or the time is over."""
        started = time.monotonic()
        n_done = 0
        while n_done < n_sequences and time.monotonic() - started < seconds:
            self.sequence()
            n_done += 1
        taken = time.monotonic() - started
        return Outcome(n_done, self.n_messages, self.n_requests, taken)

    def sequence(self) -> None:
        """Send one sequence and hold the server to its duties."""
        messages = [
            message
            for _ in range(self.random.randint(2, 12))
            for message in [self.random.choice(self._moves())()]
        ]
        self._send(messages)
        state = self.client.request("stub/state", {})
        for request_id in self._open_ids:
            self.client.wait(request_id)
            replies = self.client.replies.pop(request_id)
            assert len(replies) == 1, f"{len(replies)} replies to {request_id}"
        self._open_ids.clear()
        self.client.forget()
        if state["texts"] != self.texts:
            raise AssertionError(f"texts differ: {state['texts']} != {self.texts}")

    def _moves(self) -> list[Any]:
        moves = [self._opened, self._requested, self._strange, self._configured]
        if self.texts:
            moves += [self._changed] * 4 + [self._requested] * 4
            moves += [self._cancelled, self._closed, self._mutated, self._mutated]
        return moves

    def _send(self, messages: list[Message]) -> None:
        data = b""
        for message in messages:
            self.n_messages += 1
            if "id" in message and "method" in message:
                self.n_requests += 1
                self._open_ids.append(message["id"])
            body = json.dumps(message).encode()
            data += b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        while data:  # In pieces that know nothing of where messages end.
            size = self.random.choice([1, 7, 100, len(data), len(data)])
            self.client.write(data[:size])
            data = data[size:]

    def _request(self, method: str, params: Any) -> Message:
        self._last_id += 1
        number = self._last_id
        request_id = f"s{number}" if self.random.random() < 0.2 else number
        return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}

    def _opened(self) -> Message:
        name = self.random.choice("abc")
        uri = f"file:///w/{name}.py"
        text = self.texts[uri] = self._text(80)
        item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        return _note("textDocument/didOpen", {"textDocument": item})

    def _closed(self) -> Message:
        uri = self.random.choice([*self.texts, "file:///w/none.py"])
        self.texts.pop(uri, None)
        return _note("textDocument/didClose", {"textDocument": {"uri": uri}})

    def _changed(self) -> Message:
        uri = self.random.choice(list(self.texts))
        changes: list[Message] = []
        for _ in range(self.random.randint(1, 3)):
            text = self.texts[uri]
            put = self._text(6)
            if self.random.random() < 0.1:
                changes.append({"text": put})
                self.texts[uri] = put
                continue
            start, end = sorted(self.random.randint(0, len(text)) for _ in "ab")
            end = min(end, start + 8)
            first, second = _position(text, start), _position(text, end)
            # Inside CR LF is no place of the protocol: both mean the line's end.
            start, end = _settled(text, start), _settled(text, end)
            changes.append({"range": {"start": first, "end": second}, "text": put})
            self.texts[uri] = text[:start] + put + text[end:]
        self._version += 1
        document = {"uri": uri, "version": self._version}
        changed: Any = {"textDocument": document, "contentChanges": changes}
        return _note("textDocument/didChange", changed)

    def _requested(self) -> Message:
        uri = self.random.choice([*self.texts, "file:///w/none.py"])
        place = {
            "line": self.random.choice([0, 1, 2, 3, 50, 2**31 - 1]),
            "character": self.random.choice([0, 1, 2, 5, 2**31 - 1]),
        }
        document = {"uri": uri}
        params: Any
        kind = self.random.randint(0, 5)
        if kind == 0:
            params = {"textDocument": document, "position": place}
            return self._request("textDocument/completion", params)
        if kind == 1:
            area = {"start": place, "end": place}
            context: Any = {"diagnostics": []}
            params = {"textDocument": document, "range": area, "context": context}
            return self._request("textDocument/codeAction", params)
        context = {"triggerKind": self.random.randint(1, 2)}
        if kind == 2:
            area = {"start": place, "end": place}
            context["selectedCompletionInfo"] = {"range": area, "text": self._text(4)}
        params = {"textDocument": document, "position": place, "context": context}
        return self._request("textDocument/inlineCompletion", params)

    def _cancelled(self) -> Message:
        back = self.random.randint(0, 3)
        request_id = self.random.choice([self._last_id - back, "none", None, [1]])
        return _note("$/cancelRequest", {"id": request_id})

    def _configured(self) -> Message:
        settings = {
            "room": self.random.choice([8, 64, *_VALUES]),
            "inline": self.random.choice([{"candidates": 2}, *_VALUES]),
        }
        whole = self.random.choice([settings, {"niello": settings}, *_VALUES])
        return _note("workspace/didChangeConfiguration", {"settings": whole})

    def _strange(self) -> Message:
        name = "".join(self.random.choices(string.ascii_letters + "$/", k=8))
        command = {
            "command": self.random.choice(_COMMANDS),
            "arguments": self.random.choice([None, [], [1, 2], [{"edit": "fill"}]]),
        }
        return self.random.choice(
            [
                self._request("workspace/executeCommand", command),
                self._request("codeAction/resolve", {"title": "x", "data": {"a": 1}}),
                self._request("completionItem/resolve", {"label": "x"}),
                self._request("niello/counters", None),
                self._request(name, {}),
                self._request("initialize", {"capabilities": {}}),
                _note(name, [1]),
                _note("exitt", None),
                {"jsonrpc": "2.0", "id": "unasked", "result": 3},
                {"jsonrpc": "2.0", "error": {}},
            ]
        )

    def _mutated(self) -> Message:
        """Break one value of a request, or of a change so that it cannot be applied."""
        if self.random.random() < 0.3:
            uri = self.random.choice(list(self.texts))
            broken = [{"range": {"start": "x"}, "text": "y"}, {"text": 3}]
            self._version += 1
            document = {"uri": uri, "version": self._version}
            changed: Any = {"textDocument": document, "contentChanges": broken}
            return _note("textDocument/didChange", changed)
        message = self._requested()
        node: Any = message["params"]
        while True:
            key = self.random.choice(list(node))
            if isinstance(node[key], dict) and node[key] and self.random.random() < 0.7:
                node = node[key]
                continue
            if self.random.random() < 0.3:
                del node[key]
            else:
                node[key] = self.random.choice(_VALUES)
            return message

    def _text(self, longest: int) -> str:
        return "".join(self.random.choices(_LETTERS, k=self.random.randint(0, longest)))


def _note(method: str, params: Any) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _settled(text: str, offset: int) -> int:
    return offset - 1 if text[offset - 1 : offset + 1] == "\r\n" else offset


def _position(text: str, offset: int) -> Message:
    """Return a position in UTF-16 units, the slow and obvious way."""
    line = character = 0
    for at, letter in enumerate(text[:offset]):
        if letter == "\n" or (letter == "\r" and text[at + 1 : at + 2] != "\n"):
            line, character = line + 1, 0
        elif letter != "\r":
            character += 2 if ord(letter) > 0xFFFF else 1
    return {"line": line, "character": character}
