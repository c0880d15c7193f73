"""The server as a client sees it: a real process, a model that follows a script."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub_client import SOURCES

from niello.bench.client import Client

pytestmark = pytest.mark.e2e
Start = Callable[..., Client]
URI = "file:///w/a.py"
COMMAND = "workspace/executeCommand"


def calls(client: Client) -> int:
    return int(client.request("stub/state", {})["n_calls"])


def begin(client: Client, text: str = "x = \n", **params: Any) -> None:
    client.initialize(**params)
    client.wait_for_note("niello/status", kind="ready")
    client.open(URI, text)


def texts(items: list[dict[str, Any]]) -> list[str]:
    return [each["insertText"] for each in items]


def test_the_server_does_not_import_torch() -> None:
    code = "import sys, niello.lsp.server; sys.exit('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(SOURCES)}, timeout=60
    )
    assert done.returncode == 0


def test_a_candidate_comes_with_a_range_to_the_end_of_the_line(start: Start) -> None:
    client = start(texts=["y"])
    begin(client, "print(x, )\n")
    (item,) = client.inline(URI, (0, 9))
    assert item["insertText"] == "y)"
    assert item["range"] == {
        "start": {"line": 0, "character": 9},
        "end": {"line": 0, "character": 10},
    }


def test_inline_completion_is_advertised(start: Start) -> None:
    answer = start().initialize()
    assert answer["capabilities"]["inlineCompletionProvider"] == {}


def test_asking_gives_several_candidates_and_typing_gives_one(start: Start) -> None:
    client = start(texts=["1", "2", "3"])
    begin(client)
    assert texts(client.inline(URI, (0, 4), automatic=True)) == ["1"]
    assert sorted(texts(client.inline(URI, (0, 4)))) == ["1", "2", "3"]


def test_typing_into_a_shown_text_asks_no_model(start: Start) -> None:
    client = start(texts=["abcdef"])
    begin(client, initializationOptions={"inline": {"ahead": False}})
    assert texts(client.inline(URI, (0, 4), automatic=True)) == ["abcdef"]
    for n, letter in enumerate("abc"):
        client.change(URI, n + 2, (0, 4 + n), (0, 4 + n), letter)
        items = client.inline(URI, (0, 5 + n), automatic=True)
        assert texts(items) == ["abcdef"[n + 1 :]]
    assert calls(client) == 1


def test_what_follows_an_accepted_text_was_prepared(start: Start) -> None:
    client = start(texts=["ab"])
    begin(client)
    client.inline(URI, (0, 4), automatic=True)
    while calls(client) < 2:
        pass
    client.request("stub/settle", {})
    client.notify("stub/set", {"ms": 3_600_000})  # The model answers no more.
    client.change(URI, 2, (0, 4), (0, 4), "ab")
    assert texts(client.inline(URI, (0, 6), automatic=True)) == ["ab"]


def test_a_text_with_little_confidence_is_shown_only_if_asked_for(start: Start) -> None:
    client = start(texts=["y"], score=-5.0)
    begin(client)
    assert client.inline(URI, (0, 4), automatic=True) == []
    assert texts(client.inline(URI, (0, 4))) == ["y"]


def test_nothing_is_shown_unasked_in_front_of_many_letters(start: Start) -> None:
    client = start(texts=["y"])
    begin(client, "x =  if something else nothing\n")
    assert client.inline(URI, (0, 4), automatic=True) == []
    assert calls(client) == 0


def test_nothing_is_shown_unasked_inside_a_word(start: Start) -> None:
    client = start(texts=["y"])
    begin(client, "value\n")
    assert client.inline(URI, (0, 3), automatic=True) == []
    assert calls(client) == 0


def test_a_request_during_a_slow_load_is_answered_with_nothing(start: Start) -> None:
    client = start(texts=["y"], load_ms=3000)
    client.initialize()
    client.open(URI, "x = \n")
    assert client.inline(URI, (0, 4)) == []
    client.wait_for_note("niello/status", kind="ready")
    assert texts(client.inline(URI, (0, 4))) == ["y"]


def test_loading_shows_progress_from_begin_to_end(start: Start) -> None:
    client = start(load_ms=300)
    client.initialize(capabilities={"window": {"workDoneProgress": True}})
    client.wait_for_note("niello/status", kind="ready")
    client.request("stub/state", {})
    kinds = [
        each["params"]["value"]["kind"]
        for each in client.notes
        if each["method"] == "$/progress"
    ]
    assert (kinds[0], kinds[-1]) == ("begin", "end")


def test_a_cancelled_request_is_answered_before_the_model_is_done(start: Start) -> None:
    client = start(texts=["y"], ms=2000)
    begin(client)
    request = client.ask_inline(URI, (0, 4))
    while calls(client) == 0:
        pass
    sent = client.notify("$/cancelRequest", {"id": request})
    assert client.wait(request)["error"]["code"] == -32800
    assert client.arrived[request] - sent < 1


def test_a_newer_request_takes_the_place_of_an_older_one(start: Start) -> None:
    client = start(texts=["y"], ms=1000, step_ms=10)
    begin(client)
    first = client.ask_inline(URI, (0, 4))
    while calls(client) == 0:
        pass
    second = client.ask_inline(URI, (0, 4))
    assert client.wait(first)["result"] == {"items": []}
    assert texts(client.wait(second)["result"]["items"]) == ["y"]
    assert client.arrived[first] < client.arrived[second] - 0.5


def test_a_change_of_the_document_ends_the_work_on_its_old_text(start: Start) -> None:
    client = start(texts=["y"], ms=5000, step_ms=10)
    begin(client)
    request = client.ask_inline(URI, (0, 4))
    while calls(client) == 0:
        pass
    client.change(URI, 2, (0, 0), (0, 0), "z")
    assert client.wait(request, 2)["result"] == {"items": []}


@pytest.mark.parametrize("error", ["boom", "OutOfMemory"])
def test_an_engine_that_raises_is_survived_and_said_once(
    start: Start, error: str
) -> None:
    client = start(texts=["y"])
    begin(client, initializationOptions={"inline": {"ahead": False}})
    for version in (2, 3):
        client.notify("stub/raise", {"call": 1, "error": error})
        client.change(URI, version, (0, 0), (0, 0), "z")
        assert client.inline(URI, (0, 4 + version - 1)) == []
    client.change(URI, 4, (0, 0), (0, 0), "z")
    assert texts(client.inline(URI, (0, 7))) == ["y"]
    shown = [each for each in client.notes if each["method"] == "window/showMessage"]
    assert len(shown) == 1
    client.request("stub/settle", {})
    forgotten = client.request("stub/state", {})["n_forgotten"]
    assert (forgotten > 0) == (error == "OutOfMemory")


@pytest.mark.parametrize(
    "name", [".env.local", "server.key", "secrets/a.py", "id_rsa", "a/.ssh/config"]
)
def test_a_file_that_may_hold_secrets_is_left_alone(start: Start, name: str) -> None:
    client = start(texts=["y"])
    begin(client)
    uri = f"file:///w/{name}"
    client.open(uri, "x = \n")
    assert client.inline(uri, (0, 4)) == []
    assert calls(client) == 0
    said = client.wait_for_note("niello/status", kind="disabled")
    assert "secrets" in said["params"]["message"]


@pytest.mark.parametrize(
    "settings",
    [
        {"enabled": False},
        {"languages": {"python": False}},
        {"inline": {"enabled": False}},
        {"disabledGlobs": ["*.py"]},
        {"limits": {"fileKb": 1}},
    ],
)
def test_a_changed_setting_applies_without_a_restart(
    start: Start, settings: dict[str, Any]
) -> None:
    client = start(texts=["y"])
    begin(client, "x = \n" + "#" * 1500)
    assert texts(client.inline(URI, (0, 4))) == ["y"]
    client.notify(
        "workspace/didChangeConfiguration", {"settings": {"niello": settings}}
    )
    assert client.inline(URI, (0, 4)) == []


def test_settings_are_asked_of_a_client_that_has_them(start: Start) -> None:
    client = start(texts=["y"])
    client.settings = {"inline": {"enabled": False}}
    begin(client, capabilities={"workspace": {"configuration": True}})
    client.wait_for_note("workspace/configuration")
    client.request("stub/state", {})
    assert client.inline(URI, (0, 4)) == []


def test_a_folder_s_own_settings_are_read(start: Start, tmp_path: Path) -> None:
    (tmp_path / "niello.toml").write_text("[inline]\nenabled = false\n")
    client = start(texts=["y"])
    begin(client, rootUri=tmp_path.as_uri())
    client.request("stub/settle", {})
    assert client.inline(URI, (0, 4)) == []


def test_completion_offers_the_same_and_keeps_its_indentation(start: Start) -> None:
    client = start(texts=["al = max(\n        1, 2\n    )"])
    begin(client, "def f(total):\n    tot\n")
    params = {
        "textDocument": {"uri": URI},
        "position": {"line": 1, "character": 7},
    }
    result = client.request("textDocument/completion", params)
    (item,) = result["items"]
    assert result["isIncomplete"] is True
    assert item["textEdit"]["newText"] == "total = max(\n        1, 2\n    )"
    assert item["textEdit"]["range"]["start"] == {"line": 1, "character": 4}
    assert item["filterText"].startswith("tot")
    assert item["insertTextMode"] == 1
    resolved = client.request("completionItem/resolve", item)
    assert "max" in resolved["documentation"]["value"]


def test_a_client_with_ghost_text_gets_no_second_offer_in_its_menu(
    start: Start,
) -> None:
    client = start(texts=["y"])
    begin(client, capabilities={"textDocument": {"inlineCompletion": {}}})
    params = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 4}}
    assert client.request("textDocument/completion", params)["items"] == []


def test_an_action_edits_the_version_it_was_computed_on(start: Start) -> None:
    client = start(texts=["return 1"])
    edits = {"documentChanges": True, "changeAnnotationSupport": {}}
    action = {"resolveSupport": {"properties": ["edit"]}, "dataSupport": True}
    begin(
        client,
        "def f():\n    pass\n",
        capabilities={
            "workspace": {"workspaceEdit": edits},
            "textDocument": {"codeAction": action},
        },
    )
    area = {
        "start": {"line": 1, "character": 4},
        "end": {"line": 1, "character": 8},
    }
    asked = {
        "textDocument": {"uri": URI},
        "range": area,
        "context": {"diagnostics": []},
    }
    actions = client.request("textDocument/codeAction", asked)
    assert actions[0]["title"] == "Rewrite selection (Niello)"
    edit = client.request("codeAction/resolve", actions[0])["edit"]
    (change,) = edit["documentChanges"]
    assert change["textDocument"] == {"uri": URI, "version": 1}
    assert change["edits"] == [
        {"range": area, "newText": "return 1", "annotationId": "niello"}
    ]
    client.change(URI, 2, (0, 0), (0, 0), "\n")
    reply = client.wait(client.ask("codeAction/resolve", actions[0]))
    assert reply["error"]["code"] == -32801


def test_a_client_without_resolve_gets_the_edit_by_a_command(start: Start) -> None:
    client = start(texts=["1"])
    begin(client)
    place = {"line": 0, "character": 4}
    asked = {
        "textDocument": {"uri": URI},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
    }
    action = client.request("textDocument/codeAction", asked)[0]
    client.request(COMMAND, action["command"])
    applied = client.wait_for_note("workspace/applyEdit")["params"]["edit"]
    assert applied["changes"][URI][0]["newText"] == "1"


def test_an_instruction_rides_along_with_an_action(
    start: Start, tmp_path: Path
) -> None:
    client = start(texts=["1"])
    begin(client)
    place = {"line": 0, "character": 4}
    asked = {
        "textDocument": {"uri": URI},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
    }
    action = client.request("textDocument/codeAction", asked)[0]
    told = {**action["data"], "instruction": "the least\nprime"}
    resolved = client.request("codeAction/resolve", {**action, "data": told})
    client.request(COMMAND, {"command": "niello.edit", "arguments": [told]})
    applied = client.wait_for_note("workspace/applyEdit")["params"]["edit"]
    assert resolved["edit"] == applied
    assert applied["changes"][URI][0]["newText"] == "1"
    for line in (tmp_path / "server0" / "record").read_text("utf-8").splitlines():
        assert json.loads(line)[0].startswith("# the least prime\n")


def test_the_end_is_quiet(start: Start, tmp_path: Path) -> None:
    client = start()
    begin(client)
    assert client.close() == 0
    assert "Traceback" not in (tmp_path / "server0" / "stderr").read_text()


def test_requests_before_initialize_and_after_shutdown_are_refused(
    start: Start,
) -> None:
    client = start()
    early = client.wait(client.ask_inline(URI, (0, 0)))
    assert early["error"]["code"] == -32002
    client.initialize()
    client.request("shutdown", None)
    late = client.wait(client.ask_inline(URI, (0, 0)))
    assert late["error"]["code"] == -32600


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"3", b"null", b"\xff\xfe", b'{"jsonrpc":"2.0"}']
)
def test_nonsense_gets_an_error_and_the_next_message_works(
    start: Start, body: bytes
) -> None:
    client = start(texts=["y"])
    begin(client)
    assert client.process.stdin is not None
    client.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    client.process.stdin.write(b"Content-Length: x\r\nNonsense\r\n\r\n")
    client.process.stdin.flush()
    assert texts(client.inline(URI, (0, 4))) == ["y"]
    assert "error" in client.wait(None)


@pytest.mark.parametrize(
    "capabilities",
    [
        None,
        {
            "textDocument": {
                "completion": {"completionItemKind": {"valueSet": [0, 118115]}}
            }
        },
        {"textDocument": {"publishDiagnostics": {"tagSupport": True}, "rename": []}},
        {"workspace": {"workspaceEdit": {"failureHandling": "new"}}},
        {"general": {"positionEncodings": ["utf-7", "utf-8"]}, "x": {"y": None}},
    ],
)
def test_a_client_may_have_capabilities_that_nobody_knows(
    start: Start, capabilities: Any
) -> None:
    client = start(texts=["y"])
    begin(client, capabilities=capabilities, trace="compact", clientInfo={})
    assert texts(client.inline(URI, (0, 4))) == ["y"]


def test_what_can_be_read_beside_an_unknown_capability_counts(start: Start) -> None:
    action = {
        "resolveSupport": {"properties": ["edit"]},
        "codeActionLiteralSupport": {"codeActionKind": {"valueSet": 1}},
    }
    client = start(texts=["y"])
    begin(client, "x = 1\n", capabilities={"textDocument": {"codeAction": action}})
    asked = {
        "textDocument": {"uri": URI},
        "range": {
            "start": {"line": 0, "character": 4},
            "end": {"line": 0, "character": 5},
        },
        "context": {"diagnostics": [{"message": 1}, None], "triggerKind": 9},
    }
    found = client.request("textDocument/codeAction", asked)
    assert found and not any("command" in each for each in found)


def test_a_document_opened_anew_gets_no_fill_of_its_old_text(start: Start) -> None:
    client = start(texts=["y"], ms=300)
    begin(client)
    old = client.ask_inline(URI, (0, 4))
    client.open(URI, "z = z\n")
    assert client.wait(old)["result"]["items"] == []


def test_all_kinds_of_actions_are_of_the_empty_kind(start: Start) -> None:
    client = start(texts=["y"])
    begin(client, "x = 1\n")
    place = {"line": 0, "character": 4}
    asked = {"textDocument": {"uri": URI}, "range": {"start": place, "end": place}}
    context: dict[str, Any] = {"diagnostics": []}
    every = client.request("textDocument/codeAction", asked | {"context": context})
    context |= {"only": [""]}
    empty = client.request("textDocument/codeAction", asked | {"context": context})
    assert empty == every != []


def test_a_request_without_a_readable_place_is_refused(start: Start) -> None:
    client = start(texts=["y"])
    begin(client)
    asked = {"textDocument": {"uri": URI}, "position": {"line": -1, "character": 0}}
    with pytest.raises(RuntimeError, match="-32602"):
        client.request("textDocument/inlineCompletion", asked)
    place = {"line": 0, "character": 4}
    asked |= {"position": place, "context": {"triggerKind": 0}}
    (item,) = client.request("textDocument/inlineCompletion", asked)["items"]
    assert item["insertText"] == "y"


def test_the_log_holds_no_code(start: Start, tmp_path: Path) -> None:
    client = start(texts=["SECRETFILL"])
    begin(client, "SECRETNAME = \n", initializationOptions={"log": {"level": "debug"}})
    client.inline(URI, (0, 13))
    client.notify("stub/raise", {"call": 1, "error": "SECRETERROR"})
    client.change(URI, 2, (0, 0), (0, 0), "z")
    client.inline(URI, (0, 14))
    client.close()
    for name in ("stderr", "server.log"):
        said = (tmp_path / "server0" / name).read_text()
        assert "SECRET" not in said
        assert said


def test_the_prompt_holds_the_text_as_the_client_has_it(
    start: Start, tmp_path: Path
) -> None:
    client = start(texts=["y"])
    begin(client, "a\r\nb = 🛰\r\n")
    client.change(URI, 2, (1, 6), (1, 6), "é")
    client.inline(URI, (1, 7))
    line = (tmp_path / "server0" / "record").read_text("utf-8").splitlines()[0]
    prefix, given, suffix, _ = json.loads(line)
    assert f"{prefix}{given}\n{suffix}" == "a\nb = 🛰é\n"


def test_a_changed_project_file_is_read_again(start: Start, tmp_path: Path) -> None:
    client = start(texts=["y"])
    begin(client, rootUri=tmp_path.as_uri())
    assert texts(client.inline(URI, (0, 4))) == ["y"]
    for enabled, expected in (("false", []), ("true", ["y"])):
        path = tmp_path / "niello.toml"
        path.write_text(f"[inline]\nenabled = {enabled}\n")
        saved = {"textDocument": {"uri": path.as_uri()}}
        client.notify("textDocument/didSave", saved)
        while texts(client.inline(URI, (0, 4))) != expected:
            pass


def two_folders(tmp_path: Path) -> tuple[list[dict[str, str]], str, str]:
    """Make two folders and return them as the protocol names them, and a file each."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for each in folders:
        each.mkdir()
    listed = [{"uri": each.as_uri(), "name": each.name} for each in folders]
    one, two = (f"{each['uri']}/a.py" for each in listed)
    return listed, one, two


def test_each_folder_has_its_own_project_file(start: Start, tmp_path: Path) -> None:
    folders, one, two = two_folders(tmp_path)
    path = tmp_path / "two" / "niello.toml"
    path.write_text("[inline]\nenabled = false\n")
    client = start(texts=["y"])
    client.initialize(workspaceFolders=folders)
    client.wait_for_note("niello/status", kind="ready")
    for uri in (one, two):
        client.open(uri, "x = \n")
    assert texts(client.inline(one, (0, 4))) == ["y"]
    assert client.inline(two, (0, 4)) == []
    path.write_text("")
    client.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})
    while texts(client.inline(two, (0, 4))) != ["y"]:
        pass


def test_a_client_is_asked_for_the_settings_of_each_folder(
    start: Start, tmp_path: Path
) -> None:
    folders, one, two = two_folders(tmp_path)
    client = start(texts=["y"])
    client.settings = {}
    client.scoped = {folders[1]["uri"]: {"languages": {"python": False}}}
    asks = {"workspace": {"configuration": True}}
    client.initialize(workspaceFolders=folders, capabilities=asks)
    client.wait_for_note("niello/status", kind="ready")
    for uri in (one, two):
        client.open(uri, "x = \n")
    assert texts(client.inline(one, (0, 4))) == ["y"]
    assert client.inline(two, (0, 4)) == []
    client.scoped = {folders[0]["uri"]: {"languages": {"python": False}}}
    client.notify("workspace/didChangeConfiguration", {"settings": {"room": 100}})
    while texts(client.inline(two, (0, 4))) != ["y"]:
        pass
    assert client.inline(one, (0, 4)) == []


def test_a_folder_that_comes_brings_its_settings(start: Start, tmp_path: Path) -> None:
    folders, one, two = two_folders(tmp_path)
    (tmp_path / "two" / "niello.toml").write_text("[inline]\nenabled = false\n")
    client = start(texts=["y"])
    client.initialize(workspaceFolders=folders[:1])
    client.wait_for_note("niello/status", kind="ready")
    for uri in (one, two):
        client.open(uri, "x = \n")
    for added, removed, expected in ((folders[1:], [], []), ([], folders[1:], ["y"])):
        event = {"event": {"added": added, "removed": removed}}
        client.notify("workspace/didChangeWorkspaceFolders", event)
        while texts(client.inline(two, (0, 4))) != expected:
            pass
        assert texts(client.inline(one, (0, 4))) == ["y"]


def test_an_edit_of_a_secret_file_is_refused(start: Start) -> None:
    client = start(texts=["y"])
    begin(client)
    client.open("file:///w/.env", "x = \n", "python")
    place = {"line": 0, "character": 4}
    area = {"start": place, "end": place}
    data = {"edit": "fill", "uri": "file:///w/.env", "range": area}
    asked = {"command": "niello.edit", "arguments": [data]}
    assert "secrets" in client.wait(client.ask(COMMAND, asked))["error"]["message"]
    assert calls(client) == 0


def test_a_change_elsewhere_makes_it_ask_anew(start: Start) -> None:
    client = start(texts=["abcdef"])
    begin(client, initializationOptions={"inline": {"ahead": False}})
    client.open("file:///w/b.py", "y = \n")
    client.open("file:///w/c.txt", "y = \n", "plaintext")
    client.inline(URI, (0, 4), automatic=True)
    client.change("file:///w/c.txt", 2, (0, 0), (0, 0), "z")
    client.inline(URI, (0, 4), automatic=True)
    assert calls(client) == 1
    client.change("file:///w/b.py", 2, (0, 0), (0, 0), "z")
    client.inline(URI, (0, 4), automatic=True)
    assert calls(client) == 2


def test_work_ahead_ends_with_a_key_that_does_not_fit_it(start: Start) -> None:
    client = start(texts=["abcdef"], ms=400, step_ms=5)
    begin(client)
    client.inline(URI, (0, 4), automatic=True)
    client.notify("stub/set", {"ms": 3_600_000})
    while calls(client) < 2:
        pass
    client.change(URI, 2, (0, 4), (0, 4), "z")
    client.request("stub/settle", {})


def test_a_client_that_can_is_asked_to_tell_of_changed_settings(start: Start) -> None:
    client = start()
    dynamic = {"dynamicRegistration": True}
    workspace = {"didChangeConfiguration": dynamic, "didChangeWatchedFiles": dynamic}
    client.initialize(capabilities={"workspace": workspace})
    asked = client.wait_for_note("client/registerCapability")
    assert [each["method"] for each in asked["params"]["registrations"]] == [
        "workspace/didChangeConfiguration",
        "workspace/didChangeWatchedFiles",
    ]


def test_one_client_is_served_over_tcp(start: Start, tmp_path: Path) -> None:
    client = start(texts=["y"], tcp=True)
    errors = tmp_path / "server0" / "stderr"
    while (found := re.search(r"listening on .*:(\d+)\n", errors.read_text())) is None:
        assert client.process.poll() is None
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"capabilities": {}},
        }
    ).encode()
    with socket.create_connection(("127.0.0.1", int(found[1]))) as connection:
        connection.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        assert connection.recv(100).startswith(b"Content-Length: ")
    assert client.process.wait(5) == 1


def test_the_server_ends_with_its_client_s_process(start: Start) -> None:
    helper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    client = start()
    client.initialize(processId=helper.pid)
    helper.kill()
    helper.wait()
    assert client.process.wait(10) == 1


def whole(line: int, character: int) -> dict[str, Any]:
    return {
        "start": {"line": 0, "character": 0},
        "end": {"line": line, "character": character},
    }


@pytest.mark.parametrize(
    "change",
    [
        {"range": whole(2**32 - 1, 0), "text": "abc = \n"},
        {"range": whole(2**63, 2**63), "text": "abc = \n"},
        {"range": None, "text": "abc = \n"},
    ],
)
@pytest.mark.parametrize("told", [{"version": 2}, {"version": None}, {}])
def test_a_change_told_loosely_is_applied(
    start: Start, change: dict[str, Any], told: dict[str, Any]
) -> None:
    client = start(texts=["y"])
    client.initialize()
    document = {"uri": URI, "text": "x = \n"}
    client.notify("textDocument/didOpen", {"textDocument": document})
    changed = {"textDocument": {"uri": URI, **told}, "contentChanges": [change]}
    client.notify("textDocument/didChange", changed)
    assert client.request("stub/state", {})["texts"][URI] == "abc = \n"
    assert texts(client.inline(URI, (0, 6))) == ["y"]


def test_a_document_is_left_alone_when_a_change_cannot_be_read(start: Start) -> None:
    client = start(texts=["y"])
    begin(client)
    broken = {"range": whole(-1, 0), "text": "abc"}
    changed = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [broken]}
    client.notify("textDocument/didChange", changed)
    assert client.inline(URI, (0, 4)) == []
    assert (
        "open it again"
        in client.wait_for_note("window/showMessage")["params"]["message"]
    )
    whole_text = {"contentChanges": [{"text": "x = \n"}]}
    client.notify("textDocument/didChange", changed | whole_text)
    assert texts(client.inline(URI, (0, 4))) == ["y"]


def test_a_fill_in_flight_for_a_document_that_got_lost_is_not_shown(
    start: Start,
) -> None:
    client = start(texts=["y"], ms=400)
    begin(client)
    request = client.ask_inline(URI, (0, 4))
    while calls(client) == 0:
        pass
    broken = {"range": whole(-1, 0), "text": "abc"}
    changed = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [broken]}
    client.notify("textDocument/didChange", changed)
    assert client.wait(request)["result"] == {"items": []}
