"""Remote fillers against a real server on this machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from niello.engine.remote import open_remote
from niello.infill.canvas import Canvas, Draws, Filler, never
from niello.infill.context import Context
from niello.infill.errors import RemoteError, SettingsError

CANVAS = Canvas(
    Context("def f():\n", "\nx = 1\n", "# other\n"), "    ", 40, lambda _: None
)


class Server:
    """Answers every POST with ``status`` and ``content`` and remembers the request."""

    def __init__(self) -> None:
        self.status, self.content = 200, b"{}"
        self.path = ""
        self.body: dict[str, Any] = {}
        self.headers: dict[str, str] = {}
        self.hold: threading.Event | None = None
        self.asked = threading.Event()
        self.closed = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.path = self.path
                length = int(self.headers["Content-Length"])
                server.body = json.loads(self.rfile.read(length))
                server.headers = dict(self.headers)
                server.asked.set()
                if server.hold:
                    self.rfile.read(1)  # Returns when the other side closes.
                    server.closed.set()
                    return
                self.send_response(server.status)
                self.end_headers()
                self.wfile.write(server.content)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def answer(self, content: object, status: int = 200) -> None:
        self.status, self.content = status, json.dumps(content).encode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    one = Server()
    thread = threading.Thread(target=one.http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield one
    one.http.shutdown()
    one.http.server_close()


def opened(name: str, timeout: float = 30.0) -> Filler:
    filler = open_remote(name, timeout)
    assert filler is not None
    return filler


def choice(text: str, reason: str = "stop") -> dict[str, object]:
    return {
        "choices": [{"text": text, "finish_reason": reason}],
        "usage": {"completion_tokens": 5},
    }


def test_mercury_is_asked_in_its_own_form(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INCEPTION_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("INCEPTION_API_KEY", "a key")
    server.answer(choice("return 1\n"))
    ((fill,),) = opened("mercury").fill([CANVAS], Draws(), never)
    assert server.path == "/v1/fim/completions"
    assert server.body["model"] == "mercury-edit-2"
    assert server.body["prompt"] == "# other\ndef f():\n    "
    assert server.body["suffix"] == "\nx = 1\n"
    assert server.body["max_tokens"] == 40
    assert server.body["stop"]
    assert server.headers["Authorization"] == "Bearer a key"
    assert (fill.text, fill.reason, fill.n_tokens) == ("return 1\n", "end", 5)


def test_an_openai_server_is_asked_for_a_completion_with_a_suffix(
    server: Server,
) -> None:
    server.answer(choice("return 1", "length"))
    filler = opened(f"openai+{server.url}/v1#coder")
    ((first, second),) = filler.fill([CANVAS], Draws(2, 0.0, 7), never)
    assert server.path == "/v1/completions"
    assert server.body["model"] == "coder"
    assert server.body["temperature"] > 0
    assert server.body["seed"] == 8
    assert first.reason == second.reason == "room"


def test_llama_cpp_gets_the_given_text_apart(server: Server) -> None:
    server.answer({"content": "return 1", "stop_type": "limit", "tokens_predicted": 3})
    ((fill,),) = opened(f"llama+{server.url}").fill([CANVAS], Draws(), never)
    assert server.path == "/infill"
    assert server.body["input_prefix"] == "def f():\n"
    assert server.body["input_extra"] == [{"filename": "context", "text": "# other\n"}]
    assert server.body["prompt"] == "    "
    assert (fill.text, fill.reason, fill.n_tokens) == ("return 1", "room", 3)


def test_the_span_rule_cuts_a_remote_fill(server: Server) -> None:
    server.answer(choice("return 1\nmore"))
    canvas = CANVAS._replace(stop=lambda text: text.find("\n") + 1 or None)
    filler = opened(f"openai+{server.url}")
    assert filler.fill([canvas], Draws(), never)[0][0].text == "return 1\n"


@pytest.mark.parametrize(
    ("status", "content", "said"),
    [
        (401, {"error": {"message": "bad key"}}, "bad key"),
        (404, {"error": "no such model"}, "no such model"),
        (429, {}, "try again later"),
        (500, None, "500"),
        (302, {}, "302"),
    ],
)
def test_an_error_status_says_what_to_do(
    server: Server, status: int, content: object, said: str
) -> None:
    server.answer(content, status)
    with pytest.raises(RemoteError, match=said):
        opened(f"openai+{server.url}").fill([CANVAS], Draws(), never)


@pytest.mark.parametrize(
    "content",
    [
        *([], "text", {}, {"choices": []}, {"choices": None}, {"choices": ["text"]}),
        {"choices": [{"text": None}]},
        {"choices": [{"text": "a"}], "usage": {"completion_tokens": "many"}},
    ],
)
def test_an_odd_answer_is_a_remote_error(server: Server, content: object) -> None:
    server.answer(content)
    with pytest.raises(RemoteError):
        opened(f"openai+{server.url}").fill([CANVAS], Draws(), never)


def test_a_server_need_not_count_its_tokens(server: Server) -> None:
    content = {"choices": [{"text": "a"}], "usage": {"completion_tokens": None}}
    server.answer(content)
    ((fill,),) = opened(f"openai+{server.url}").fill([CANVAS], Draws(), never)
    assert (fill.text, fill.n_tokens) == ("a", 0)


def test_no_server_is_a_remote_error(server: Server) -> None:
    server.http.server_close()
    with pytest.raises(RemoteError, match="cannot be reached"):
        opened(f"llama+{server.url}").fill([CANVAS], Draws(), never)


def test_a_server_that_does_not_answer_is_given_up(server: Server) -> None:
    server.hold = threading.Event()
    with pytest.raises(RemoteError, match="did not answer"):
        opened(f"llama+{server.url}", timeout=0.1).fill([CANVAS], Draws(), never)


def test_the_stop_flag_closes_the_connection(server: Server) -> None:
    server.hold = threading.Event()
    filler = opened(f"llama+{server.url}")
    ((fill,),) = filler.fill([CANVAS], Draws(), server.asked.is_set)
    assert fill.reason == "stopped"
    assert server.closed.wait(5)


def test_a_key_is_not_sent_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    with pytest.raises(SettingsError, match="https"):
        opened("openai+http://example.org/v1#m").fill([CANVAS], Draws(), never)


def test_other_names_are_no_remote_engines() -> None:
    assert open_remote("default") is None
    assert open_remote("owner/name") is None
