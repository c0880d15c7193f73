"""What clients tell loosely or wrongly, read as it is meant or passed over.

A client's capabilities are full of numbers and names that newer clients have and this
server does not know; none of them is a reason to refuse the client.
"""

import re
from collections.abc import Sequence
from typing import Any

import cattrs
from lsprotocol import types as lsp_types

from .documents import UNTOLD_VERSION

_Step = str | int
_LARGEST = 2**31 - 1
# What older clients leave out or send as null of a document.
_UNTOLD: dict[str, dict[str, int | str]] = {
    lsp_types.TEXT_DOCUMENT_DID_OPEN: {"version": 0, "languageId": ""},
    lsp_types.TEXT_DOCUMENT_DID_CHANGE: {"version": UNTOLD_VERSION},
}
# Objects that have to be there and say nothing that must be known.
_DISPENSABLE: dict[str, tuple[str, dict[str, Any]]] = {
    lsp_types.INITIALIZE: ("capabilities", {}),
    lsp_types.TEXT_DOCUMENT_CODE_ACTION: ("context", {"diagnostics": []}),
    lsp_types.TEXT_DOCUMENT_INLINE_COMPLETION: ("context", {"triggerKind": 1}),
}
_STEPS = re.compile(r"\.(\w+)|\[(\d+)\]")


def tolerated(message: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a message with what is told loosely as the protocol has it."""
    read: dict[str, Any] = _clamped(message)
    params = read.get("params")
    params = params if isinstance(params, dict) else {}
    if message["method"] in _DISPENSABLE:
        name, least = _DISPENSABLE[message["method"]]
        told = params[name] if isinstance(params.get(name), dict) else {}
        # Null, and 0 of editors whose own interface counts kinds of triggers from 0.
        params[name] = least | {key: each for key, each in told.items() if each}
    if isinstance(document := params.get("textDocument"), dict):
        for name, value in _UNTOLD.get(message["method"], {}).items():
            if document.get(name) is None:
                document[name] = value
        if params.get("contentChanges", ()) is None:
            params["contentChanges"] = []
    return read


def _clamped(value: Any) -> Any:
    """Return JSON with places behind all that can be as far as the protocol goes.

    Clients say "the end" with any large number, and "everything" with no range.
    """
    if isinstance(value, list):
        return [_clamped(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: min(each, _LARGEST)
        if name in ("line", "character") and isinstance(each, int)
        else _clamped(each)
        for name, each in value.items()
        if each is not None or name != "range"
    }


def without_unreadable(
    message: dict[str, Any], error: Exception
) -> dict[str, Any] | None:
    """Return a message without what cattrs could not read, None if that is needed.

    Nothing is left out of what changes a document: its text would be another.
    """
    if message["method"].startswith(("textDocument/did", "notebookDocument/")):
        return None
    paths = [_STEPS.findall(each) for each in cattrs.transform_error(error)]
    found = {_reached(message, [_key(*step) for step in path]) for path in paths}
    if any(len(path) < 2 for path in found):
        return None  # The parameters themselves.
    # From the end of a list on, so that the numbers of the others stay true.
    for *outer, last in sorted(found, reverse=True):
        within: Any = message
        for step in outer:
            within = within[step]
        del within[last]
    return message if found else None


def _reached(message: dict[str, Any], path: Sequence[_Step]) -> tuple[_Step, ...]:
    """Return a path as far as there is something; what lacks a part ends it."""
    within: Any = message
    for depth, step in enumerate(path):
        try:
            within = within[step]
        except (LookupError, TypeError):
            return tuple(path[:depth])
    return tuple(path)


def _key(name: str, index: str) -> _Step:
    """Return a step in the protocol's spelling; cattrs has that of Python."""
    first, *others = name.split("_")
    return int(index) if index else first + "".join(each.title() for each in others)
