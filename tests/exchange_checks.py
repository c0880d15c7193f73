"""What an exchange case expects: of one reply, and of the server at the end."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from cases_exchange import Exchange


def _items(reply: dict[str, Any]) -> list[dict[str, Any]]:
    result = reply.get("result")
    found = result.get("items", []) if isinstance(result, dict) else result
    return list(found or [])


def _range(item: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = item.get("range") or item["textEdit"]["range"]
    return found


def _place(position: dict[str, int]) -> list[int]:
    return [position["line"], position["character"]]


def _contains(item: dict[str, Any], place: list[int]) -> bool:
    area = _range(item)
    return _place(area["start"]) <= place <= _place(area["end"])


def _edits(reply: dict[str, Any]) -> list[dict[str, Any]]:
    edit = (reply.get("result") or {}).get("edit") or {}
    found: list[dict[str, Any]] = edit.get("documentChanges", [])
    return found


def _each(found: list[Any], holds: Callable[[Any], bool]) -> bool:
    """Tell whether there is something, and all of it is as it should be."""
    return bool(found) and all(map(holds, found))


def _one_of(exchange: "Exchange", reply: dict[str, Any], value: Any) -> bool:
    return any(
        all(exchange.holds(reply, name, each) for name, each in choice.items())
        for choice in value
    )


def _text(exchange: "Exchange", reply: dict[str, Any], value: str) -> bool:
    return any(each["insertText"].strip() == value for each in _items(reply))


Check = Callable[["Exchange", dict[str, Any], Any], object]
CHECKS: dict[str, Check] = {
    "result": lambda x, reply, value: ("result" in reply) == value,
    "result_empty": lambda x, reply, value: (
        "result" in reply and (not _items(reply)) == value
    ),
    "error": lambda x, reply, value: ("error" in reply) == value,
    "error_code": lambda x, reply, value: reply.get("error", {}).get("code") == value,
    "not_error_code": lambda x, reply, value: (
        reply.get("error", {}).get("code") != value
    ),
    "replies": lambda x, reply, value: len(x.client.replies[reply["id"]]) == value,
    "text": _text,
    "one_of": _one_of,
    "range_start": lambda x, reply, value: _each(
        _items(reply), lambda item: _place(_range(item)["start"]) == value
    ),
    "range_start_by_encoding": lambda x, reply, value: _each(
        _items(reply), lambda item: _place(_range(item)["start"]) == value[x.encoding]
    ),
    "range_contains": lambda x, reply, value: _each(
        _items(reply), lambda item: _contains(item, value)
    ),
    "each_item_has": lambda x, reply, value: _each(
        _items(reply), lambda item: set(value) <= set(item)
    ),
    "each_item_textEdit_has": lambda x, reply, value: _each(
        _items(reply), lambda item: set(value) <= set(item["textEdit"])
    ),
    "each_item_textEdit_lacks": lambda x, reply, value: _each(
        _items(reply), lambda item: not set(value) & set(item["textEdit"])
    ),
    "edit_version": lambda x, reply, value: _each(
        _edits(reply), lambda edit: edit["textDocument"]["version"] == value
    ),
    "edit_uri": lambda x, reply, value: _each(
        _edits(reply), lambda edit: edit["textDocument"]["uri"] == value
    ),
    "edit_line": lambda x, reply, value: _each(
        [part for edit in _edits(reply) for part in edit["edits"]],
        lambda part: part["range"]["start"]["line"] == value,
    ),
}


def _answered(exchange: "Exchange", value: str) -> None:
    for request in exchange.asked:
        assert len(exchange.client.replies.get(request, [])) == 1, f"request {request}"


def _log_clean(exchange: "Exchange", value: str) -> None:
    assert value not in exchange.said()


def _message(exchange: "Exchange", value: str) -> None:
    assert exchange.messages(), "no message to the user"


def _exits(exchange: "Exchange", value: str) -> None:
    exchange.client.process.wait(float(value.rstrip("s")))


def _exit_code(exchange: "Exchange", value: str) -> None:
    assert exchange.client.process.wait(10) == int(value)


def _model_calls(exchange: "Exchange", value: str) -> None:
    assert exchange.client.request("stub/state", {})["n_calls"] <= int(value)


def _rss_growth(exchange: "Exchange", value: str) -> None:
    tenth = len(exchange.round_rss) // 10
    growth = exchange.round_rss[-1] - exchange.round_rss[tenth]
    assert growth <= float(value.rstrip("MB")), f"grew by {growth:.1f} MB"


def _progress_paired(exchange: "Exchange", value: str) -> None:
    kinds: dict[str, list[str]] = {}
    for each in exchange.client.notes:
        if each["method"] == "$/progress":
            params = each["params"]
            kinds.setdefault(params["token"], []).append(params["value"]["kind"])
    for seen in kinds.values():
        assert seen[0] == "begin" and seen[-1] == "end", seen
        assert seen.count("begin") == seen.count("end") == 1, seen


def _no_network(exchange: "Exchange", value: str) -> None:
    process = psutil.Process(exchange.client.process.pid)
    assert not [each for each in process.net_connections("inet") if each.raddr]


ENDS: dict[str, Callable[["Exchange", str], None]] = {
    "answered": _answered,
    "log_clean": _log_clean,
    "message": _message,
    "exits": _exits,
    "exit_code": _exit_code,
    "model_calls": _model_calls,
    "rss_growth": _rss_growth,
    "progress_paired": _progress_paired,
    "no_network": _no_network,
}
