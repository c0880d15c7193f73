"""A tiny language server with known answers, for tests of the editors' own code.

It speaks Niello's protocol and fills from a table, so that a test can name the exact
text that an editor must show. It imports nothing but the standard library, so that it
starts at once.
"""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

FILLS = {
    "    return ": ["a + b", "a - b", "sum((a, b))"],
    "total = compute(": ["first, second"],
    "rows = [": ["\n    1,\n    2,\n"],
    "def area(w, h):": ["\n    size = w * h\n    return size"],
    'greet = "héllo 😀 ': ["wörld, привет"],
    "value = max(": ["low, min(high, x))  # clamp"],
    "\tif ready ": ["{\n\t\trun();\n\t}"],
}
"""What stands before the cursor on its line, and the texts that may follow."""

REPLACES_THE_REST = {"value = max("}
"""Places whose fill takes the place of what follows the cursor."""

STARTS_AT_THE_CURSOR = {'greet = "héllo 😀 '}
"""Places whose item's range leaves out what stands before the cursor, as VS Code needs
where that holds signs beyond the basic plane."""

COMMANDS = [
    *("niello.edit", "niello.pullModel", "niello.clearCache"),
    *("niello.restartEngine", "niello.showLog", "fake.accepted"),
    *("fake.heard", "fake.status", "fake.slow", "fake.die"),
]

INVOKED = 1
CANCELLED = -32800


class Story(NamedTuple):
    """The fills of one place that fit what was typed there already."""

    key: str
    texts: list[str]


def find_story(before: str) -> Story | None:
    """Return the story whose place the line is at or has typed into."""
    for key, texts in FILLS.items():
        typed = before[len(key) :]
        fitting = [text for text in texts if text.startswith(typed) and text != typed]
        if before.startswith(key) and fitting:
            return Story(key, fitting)
    return None


class FakeServer:
    """The documents of one client, and everything it was heard to say."""

    def __init__(self) -> None:
        self.encoding = "utf-16"
        self.documents: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.heard: list[dict[str, Any]] = []
        self.delay = 0.0
        self.waiting: dict[Any, threading.Timer] = {}
        self._writing = threading.Lock()

    def note(self, entry: dict[str, Any]) -> None:
        """Keep what was heard, and write it to the file that the environment names."""
        self.heard.append(entry)
        if path := os.environ.get("FAKE_SERVER_HEARD"):
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def serve(self) -> None:
        """Answer messages until the client leaves."""
        while header := sys.stdin.buffer.readline():
            length = int(header.split(b":")[1])
            sys.stdin.buffer.readline()
            self.receive(json.loads(sys.stdin.buffer.read(length)))

    def send(self, **message: Any) -> None:
        """Write one message."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with self._writing:
            sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            sys.stdout.buffer.flush()

    def receive(self, message: dict[str, Any]) -> None:
        """Give a message to the method of its name and answer a request."""
        method = message.get("method", "").replace("$/", "").replace("/", "_")
        handler = getattr(self, f"on_{method}", None)
        result = handler(message.get("params") or {}) if handler else None
        if "id" not in message or "method" not in message:
            return
        number = message["id"]
        if self.delay and method == "textDocument_inlineCompletion":
            timer = threading.Timer(
                self.delay, lambda: self.send(id=number, result=result)
            )
            self.waiting[number] = timer
            timer.start()
        else:
            self.send(id=number, result=result)

    def units(self, text: str) -> int:
        """Return the length of a text in the position encoding that was agreed."""
        if self.encoding == "utf-8":
            return len(text.encode())
        if self.encoding == "utf-16":
            return len(text.encode("utf-16-le")) // 2
        return len(text)

    def split_line(self, params: dict[str, Any]) -> tuple[str, str]:
        """Return what stands before and after the position on its line."""
        position = params["position"]
        lines = self.documents[params["textDocument"]["uri"]].split("\n")
        line = lines[position["line"]] if position["line"] < len(lines) else ""
        for cut in range(len(line) + 1):
            if self.units(line[:cut]) >= position["character"]:
                return line[:cut], line[cut:]
        return line, ""

    def on_initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        general = params["capabilities"].get("general", {})
        self.encoding = general.get("positionEncodings", ["utf-16"])[0]
        return {
            "serverInfo": {"name": "fake-niello", "version": "0"},
            "capabilities": {
                "positionEncoding": self.encoding,
                "textDocumentSync": {"openClose": True, "change": 1},
                "inlineCompletionProvider": {},
                "completionProvider": {},
                "codeActionProvider": True,
                "executeCommandProvider": {"commands": COMMANDS},
            },
        }

    def on_initialized(self, _params: dict[str, Any]) -> None:
        status = {"kind": "ready", "message": "default model"}
        self.send(method="niello/status", params=status)

    def on_exit(self, _params: dict[str, Any]) -> None:
        os._exit(0)

    def on_cancelRequest(self, params: dict[str, Any]) -> None:
        if timer := self.waiting.pop(params["id"], None):
            timer.cancel()
            error = {"code": CANCELLED, "message": "cancelled"}
            self.send(id=params["id"], error=error)

    def on_textDocument_didOpen(self, params: dict[str, Any]) -> None:
        document = params["textDocument"]
        self.documents[document["uri"]] = document["text"]
        self.versions[document["uri"]] = document["version"]

    def on_textDocument_didChange(self, params: dict[str, Any]) -> None:
        document = params["textDocument"]
        self.documents[document["uri"]] = params["contentChanges"][-1]["text"]
        self.versions[document["uri"]] = document["version"]

    def on_workspace_didChangeConfiguration(self, params: dict[str, Any]) -> None:
        self.note({"method": "settings", "settings": params["settings"]})

    def on_textDocument_inlineCompletion(
        self, params: dict[str, Any]
    ) -> list[dict[str, Any]]:
        kind = params["context"]["triggerKind"]
        self.note({"method": "inline", "kind": kind})
        before, after = self.split_line(params)
        story = find_story(before)
        if story is None:
            return []
        kept = "" if story.key in REPLACES_THE_REST else after
        number = params["position"]["line"]
        late = story.key in STARTS_AT_THE_CURSOR
        start = len(before) if late else 0
        return [
            {
                "insertText": (story.key + text)[start:] + kept,
                "range": {
                    "start": {"line": number, "character": self.units(before[:start])},
                    "end": {"line": number, "character": self.units(before + after)},
                },
                "command": {
                    "title": "accepted",
                    "command": "fake.accepted",
                    "arguments": [text],
                },
            }
            for text in (story.texts if kind == INVOKED else story.texts[:1])
        ]

    def on_textDocument_completion(self, params: dict[str, Any]) -> dict[str, Any]:
        before, _ = self.split_line(params)
        story = find_story(before)
        items = []
        for text in story.texts if story else []:
            start = {**params["position"], "character": self.units(story.key)}
            span = {"start": start, "end": params["position"]}
            edit = {"range": span, "newText": text}
            label = text.strip().splitlines()[0]
            items.append({"label": label, "filterText": text, "textEdit": edit})
        return {"isIncomplete": True, "items": items}

    def on_textDocument_codeAction(
        self, params: dict[str, Any]
    ) -> list[dict[str, Any]]:
        top = {"line": 0, "character": 0}
        edit = {"range": {"start": top, "end": top}, "newText": "# filled\n"}
        changes = {params["textDocument"]["uri"]: [edit]}
        data = {"edit": "fill", "uri": params["textDocument"]["uri"]}
        action = {"title": "Fill here", "kind": "refactor.rewrite", "data": data}
        return [{**action, "edit": {"changes": changes}}]

    def on_niello_nextEdit(self, params: dict[str, Any]) -> dict[str, Any]:
        uri = params["textDocument"]["uri"]
        text = self.documents[uri]
        edits = []
        for number, line in enumerate(text.split("\n")):
            column = line.find("self.items")
            if column >= 0 and "self.entries" in text:
                start = self.units(line[: column + len("self.")])
                end = start + len("items")
                edit = {
                    "textDocument": {"uri": uri, "version": self.versions[uri]},
                    "range": {
                        "start": {"line": number, "character": start},
                        "end": {"line": number, "character": end},
                    },
                    "text": "entries",
                }
                edits.append(edit)
        return {"edits": edits}

    def on_workspace_executeCommand(self, params: dict[str, Any]) -> Any:
        command, arguments = params["command"], params.get("arguments") or []
        if command == "fake.heard":
            return self.heard
        if command == "fake.status":
            kind, message, percent = arguments
            status = {"kind": kind, "message": message, "percent": percent}
            self.send(method="niello/status", params=status)
        elif command == "niello.clearCache":
            said = {"type": 1, "message": "The model is missing."}
            self.send(method="window/showMessage", params=said)
            self.note({"method": command})
        elif command == "fake.slow":
            self.delay = arguments[0]
        elif command == "fake.die":
            os._exit(70)
        elif command == "niello.showLog":
            return str(Path(__file__).resolve())
        else:
            self.note({"method": command, "arguments": arguments})
        return None


if __name__ == "__main__":
    FakeServer().serve()
