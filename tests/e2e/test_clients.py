"""The snippets of docs/editors.md, each run as its client would.

A snippet is read from the page in its own notation; its command must be the server's,
its options go to a real server (with a scripted model) together with the capabilities
that the client announces, and what comes back is applied as the client applies it.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from e2e.clients_lisp import as_json, read_lisp
from stub_client import start_stub

from niello.bench.client import Client

pytestmark = pytest.mark.e2e

PAGE = Path(__file__).resolve().parents[2] / "docs" / "editors.md"
COMMAND = ["niello", "serve"]
URI = "file:///home/ada/emoji.py"
BEFORE, AFTER = 'print("😀", ', ")\n"
MODEL_TEXT = "greeting"

Json = dict[str, Any]


class Snippet(NamedTuple):
    """What a snippet makes its client do."""

    command: list[str]
    options: Json  # initializationOptions
    settings: Json  # the answer to workspace/configuration


def fences(heading: str, notation: str) -> list[str]:
    """Return the code blocks of a section that are in a notation."""
    section = PAGE.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{notation}\n(.*?)```", section, re.DOTALL)


def helix() -> Snippet:
    (text,) = fences("Helix", "toml")
    server = tomllib.loads(text)["language-server"]["niello"]
    # Helix gives `config` both as options and as the answer to a question.
    config = server["config"]
    return Snippet([server["command"], *server["args"]], config, config)


def zed() -> Snippet:
    (text,) = fences("Zed", "json")
    server = json.loads(text)["lsp"]["niello"]
    binary = server["binary"]
    command = [binary["path"], *binary["arguments"]]
    return Snippet(command, server["initialization_options"], {})


def sublime() -> Snippet:
    (text,) = fences("Sublime Text", "json")
    server = json.loads(text)["clients"]["niello"]
    return Snippet(server["command"], server["initializationOptions"], {})


def lsp_mode() -> Snippet:
    (text,) = fences("Emacs with lsp-mode", "lisp")
    form = read_lisp(text)
    client = form[2][1]
    connection = client[client.index(":new-connection") + 1]
    options = client[client.index(":initialization-options") + 1]
    return Snippet(connection[1][1], as_json(options[1]), {})


def eglot() -> Snippet:
    (text,) = fences("Emacs with Eglot", "lisp")
    _mode, _dot, contact = read_lisp(text)[2][2][1]
    at = contact.index(":initializationOptions")
    return Snippet(contact[:at], as_json(contact[at + 1]), {})


def lsp4ij() -> Snippet:
    (text,) = fences("JetBrains with LSP4IJ", "json")
    assert "the command is `niello serve`" in PAGE.read_text("utf-8")
    return Snippet(COMMAND, json.loads(text), {})


def kakoune() -> Snippet:
    (text,) = fences("Kakoune", "kak")
    inner = text[text.index("[niello]") : text.index("    }\n}")]
    server = tomllib.loads(inner)["niello"]
    settings = server["settings"]
    command = [server["command"], *server["args"]]
    return Snippet(command, settings, settings[server["settings_section"]])


def announces(encodings: list[str], ghost: bool, configuration: bool = True) -> Json:
    """Return the capabilities of a client that matter to the server."""
    completion = {"completionItem": {"snippetSupport": True}}
    document: Json = {"completion": completion, "codeAction": {}}
    if ghost:
        document["inlineCompletion"] = {"dynamicRegistration": True}
    general = {"general": {"positionEncodings": encodings}} if encodings else {}
    workspace = {"configuration": configuration, "applyEdit": True}
    return {"textDocument": document, "workspace": workspace} | general


class Imitation(NamedTuple):
    """A client: its snippet and what it announces."""

    read: Callable[[], Snippet]
    capabilities: Json

    @property
    def has_ghost_text(self) -> bool:
        return "inlineCompletion" in self.capabilities["textDocument"]


CLIENTS = {
    "helix": Imitation(helix, announces(["utf-8", "utf-32", "utf-16"], False)),
    "zed": Imitation(zed, announces(["utf-16"], False)),
    "sublime": Imitation(sublime, announces(["utf-16"], False)),
    "lsp-mode": Imitation(lsp_mode, announces(["utf-32", "utf-16"], True)),
    "eglot": Imitation(eglot, announces(["utf-32", "utf-8", "utf-16"], False)),
    "lsp4ij": Imitation(lsp4ij, announces([], True, configuration=False)),
    "kakoune": Imitation(kakoune, announces(["utf-8", "utf-16"], False)),
}


@pytest.fixture(params=CLIENTS)
def imitation(request: pytest.FixtureRequest) -> Imitation:
    return CLIENTS[request.param]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    started = start_stub(tmp_path, {"texts": [MODEL_TEXT]})
    yield started
    started.kill()


def begin(client: Client, imitation: Imitation) -> Callable[[str], int]:
    """Open the document as the client would; return its way to count text."""
    snippet = imitation.read()
    client.settings = snippet.settings or None
    answer = client.initialize(
        capabilities=imitation.capabilities, initializationOptions=snippet.options
    )
    encoding = answer["capabilities"]["positionEncoding"]
    offered = imitation.capabilities.get("general", {}).get("positionEncodings")
    assert encoding in (offered or ["utf-16"])
    client.wait_for_note("niello/status", kind="ready")
    client.open(URI, BEFORE + AFTER)
    widths = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
    codec = encoding if encoding == "utf-8" else f"{encoding}-le"
    return lambda text: len(text.encode(codec)) // widths[encoding]


def apply(text: str, span: Json, new: str, count: Callable[[str], int]) -> str:
    """Replace a range of the one line as an editor would."""
    cuts = []
    for end in (span["start"], span["end"]):
        assert end["line"] == 0
        cuts.append(
            next(n for n in range(len(text)) if count(text[:n]) >= end["character"])
        )
    return text[: cuts[0]] + new + text[cuts[1] :]


def test_the_snippet_starts_the_server(imitation: Imitation) -> None:
    assert imitation.read().command == COMMAND


def test_the_snippet_sets_what_it_says(imitation: Imitation, client: Client) -> None:
    snippet = imitation.read()
    said = snippet.settings or snippet.options
    assert said["limits"]["file_kb"] == 500
    count = begin(client, imitation)
    too_long = BEFORE + AFTER + "#" * 500_001
    client.open("file:///home/ada/long.py", too_long)
    params = {
        "textDocument": {"uri": "file:///home/ada/long.py"},
        "position": {"line": 0, "character": count(BEFORE)},
        "context": {"triggerKind": 1},
    }
    way = "inlineCompletion" if imitation.has_ghost_text else "completion"
    assert client.request(f"textDocument/{way}", params)["items"] == []
    client.wait_for_note(
        "niello/status", kind="disabled", uri="file:///home/ada/long.py"
    )


def test_the_client_writes_what_the_model_filled(
    imitation: Imitation, client: Client
) -> None:
    count = begin(client, imitation)
    params = {
        "textDocument": {"uri": URI},
        "position": {"line": 0, "character": count(BEFORE)},
        "context": {"triggerKind": 1},
    }
    if imitation.has_ghost_text:
        answer = client.request("textDocument/inlineCompletion", params)
        (item,) = answer["items"]
        span, new = item["range"], item["insertText"]
        menu = client.request("textDocument/completion", params)
        assert menu["items"] == [], "ghost text and menu at once"
    else:
        answer = client.request("textDocument/completion", params)
        (item,) = answer["items"]
        span, new = item["textEdit"]["range"], item["textEdit"]["newText"]
    assert apply(BEFORE + AFTER, span, new, count) == BEFORE + MODEL_TEXT + AFTER


def test_the_client_is_offered_edits(imitation: Imitation, client: Client) -> None:
    count = begin(client, imitation)
    place = {"line": 0, "character": count(BEFORE)}
    params = {
        "textDocument": {"uri": URI},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
    }
    actions = client.request("textDocument/codeAction", params)
    assert any("title" in action for action in actions)


def test_the_page_names_every_client_that_is_imitated() -> None:
    headings = re.findall(r"^## (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    own = {"VS Code", "Neovim", "Another client"}
    assert len(set(headings) - own) == len(CLIENTS)
