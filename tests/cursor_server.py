"""What the real server answers at a case's cursor, applied as a client would."""

import atexit
import json
import tempfile
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

from cases import Case
from stub_client import start_stub

from niello.bench.client import Client

_NUMBERS = count()
Edit = dict[str, Any]


@lru_cache
def server() -> Client:
    """One server for all cases; its model writes what ``stub/set`` says."""
    scratch = Path(tempfile.mkdtemp(prefix="niello-cases-"))
    client = start_stub(scratch, {"texts": [""]})
    client.initialize(
        capabilities={
            "workspace": {"workspaceEdit": {"documentChanges": True}},
            "textDocument": {
                "codeAction": {"resolveSupport": {"properties": ["edit"]}},
                "completion": {"completionItem": {}},
            },
        }
    )
    atexit.register(client.kill)
    return client


def answer(case: Case, text: str, language: str) -> list[Edit]:
    """Return the edits of the first item or action at the case's cursor."""
    client = server()
    uri = f"untitled:{next(_NUMBERS)}{case.input.suffix}"
    client.notify("stub/set", {"texts": case.model_outputs})
    client.open(uri, text, language)
    place = {"line": case.line, "character": case.character}
    params: dict[str, Any] = {"textDocument": {"uri": uri}, "position": place}
    request = case.table["request"]
    if request == "codeAction":
        return _act(client, uri, place)
    if request == "inlineCompletion":
        params["context"] = {"triggerKind": 1}
    if (case.table.get("note") or "").startswith("Client sends tabSize"):
        params["options"] = {"tabSize": 8, "insertSpaces": True}
    result = client.request(f"textDocument/{request}", params)
    items = result if isinstance(result, list) else (result or {}).get("items", [])
    return [_edit_of(item) for item in items[:1]]


def _edit_of(item: dict[str, Any]) -> Edit:
    if "textEdit" in item:
        edit: Edit = item["textEdit"]
        return edit
    return {"range": item["range"], "newText": item["insertText"]}


def _act(client: Client, uri: str, place: dict[str, int]) -> list[Edit]:
    params = {
        "textDocument": {"uri": uri},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
    }
    for action in client.request("textDocument/codeAction", params) or []:
        if "edit" not in action:
            action = client.request("codeAction/resolve", action)
        edit = action.get("edit") or {}
        for change in edit.get("documentChanges", []):
            if change["edits"]:
                return list(change["edits"])
    return []


def apply(text: str, edits: list[Edit]) -> str:
    """Apply edits with positions in UTF-16 units."""
    lines = _line_starts(text)
    places = []
    for edit in edits:
        start, end = (
            _offset(text, lines, edit["range"][side]) for side in ("start", "end")
        )
        places.append((start, end, edit["newText"]))
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _line_starts(text: str) -> list[int]:
    starts, offset = [0], 0
    while offset < len(text):
        if text[offset] in "\r\n":
            offset += text.startswith("\r\n", offset)
            starts.append(offset + 1)
        offset += 1
    return starts


def _offset(text: str, starts: list[int], place: dict[str, int]) -> int:
    start = starts[place["line"]]
    units = text[start:].encode("utf-16-le")[: 2 * place["character"]]
    return start + len(units.decode("utf-16-le"))


def show(edits: list[Edit]) -> str:
    """Return edits as a test's message shows them."""
    return json.dumps(edits, ensure_ascii=False)
