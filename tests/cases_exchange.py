"""The ``exchange`` kind of case: messages to a real server, and what comes back.

The server is the real one in its own process; its model follows a script. What the
server holds as a document's text is read off the prompt that the model gets for a
request at the document's end.
"""

import json
import time
from contextlib import suppress
from subprocess import DEVNULL, Popen
from typing import Any

import psutil
from cases import Case
from exchange_checks import CHECKS, ENDS
from exchange_server import Served, at

# What cases call a setting, and what it is called here.
SETTING_NAMES = {"canvas": "room"}


def run(case: Case) -> None:
    """Carry out a case's steps, then hold what is left against its checks."""
    exchange = Exchange(case)
    try:
        for step in json.loads(
            (case.folder / case.table["exchange"]).read_text("utf-8")
        ):
            exchange.take(step)
        exchange.finish()
    finally:
        exchange.end()


class Exchange(Served):
    """What is done to the server, step by step, and what is expected of it."""

    def take(self, step: dict[str, Any]) -> None:
        """Carry out one step."""
        step = self._resolved(step)
        if "do" in step:
            getattr(self, f"do_{step['do']}")(step)
            return
        for name in step:
            if method := getattr(self, f"step_{name}", None):
                method(step)
                return
        raise AssertionError(f"no such step: {step}")

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._resolved(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._resolved(each) for each in value]
        if value == "${HELPER_PID}":
            self.helper = Popen(["sleep", "600"], stdout=DEVNULL)
            return self.helper.pid
        if isinstance(value, str):
            value = value.replace("${DIR_URI}", self.case.folder.as_uri())
            return value.replace("${URI}", self.uri)
        return value

    # Steps that speak to the server.

    def do_initialize(self, step: dict[str, Any]) -> None:
        params = {name: value for name, value in step.items() if name != "do"}
        self.answer = self.client.initialize(**params)
        self.encoding = self.answer["capabilities"].get("positionEncoding") or "utf-16"

    def do_didOpen(self, step: dict[str, Any]) -> None:
        uri = self.last_uri = step.get("uri", self.uri)
        text = step.get("text")
        if text is None:
            text = self.case.input.read_bytes().decode("utf-8-sig")
        language = step.get("languageId", self.language())
        self.client.open(uri, text, language)

    def do_configure(self, step: dict[str, Any]) -> None:
        settings = {
            SETTING_NAMES.get(name, name): value
            for name, value in step["settings"].items()
        }
        self.client.notify("workspace/didChangeConfiguration", {"settings": settings})

    def do_inlineCompletion(self, step: dict[str, Any]) -> None:
        column = step.get("character")
        if column is None:
            column = step["character_by_encoding"][self.encoding]
        request = self.client.ask(
            "textDocument/inlineCompletion",
            {
                "textDocument": {"uri": step.get("uri", self.uri)},
                "position": {"line": step.get("line", 0), "character": column},
                "context": {"triggerKind": step.get("triggerKind", 1)},
            },
            step.get("id"),
        )
        self.asked.append(request)

    def step_send(self, step: dict[str, Any]) -> None:
        message = step["send"]
        if message.get("method") == "workspace/didChangeConfiguration":
            settings = (message.get("params") or {}).get("settings")
            if isinstance(settings, dict):
                self.do_configure({"settings": settings})
                return
        if "id" in message:
            self.asked.append(message["id"])
        params = message.get("params") or {}
        if "textDocument" in params:
            self.last_uri = params["textDocument"]["uri"]
        self._send(message)

    def _send(self, message: dict[str, Any]) -> None:
        with suppress(BrokenPipeError):
            self.client.send(message)
        if self.one_by_one and "id" in message:
            # A script for a certain call needs one call a request: none may take the
            # place of another, and none may be answered from memory.
            self.client.wait(message["id"])
            self.client.request(
                "workspace/executeCommand", {"command": "niello.clearCache"}
            )

    def step_send_resolve_of(self, step: dict[str, Any]) -> None:
        order = step["send_resolve_of"]
        actions = self.client.wait(order["first_action_of"])["result"]
        assert actions, "no action to resolve"
        self.asked.append(
            self.client.ask("codeAction/resolve", actions[0], order["id"])
        )

    def step_repeat(self, step: dict[str, Any]) -> None:
        request = step.get("from_id", 1)
        for _ in range(step["repeat"]):
            for part in step["body"]:
                getattr(self, f"part_{part}")(step, request)
            request += 1
            process = psutil.Process(self.client.process.pid)
            self.round_rss.append(process.memory_info().rss / 1e6)

    def part_inline(self, step: dict[str, Any], request: int) -> None:
        step = step | {"id": request, "uri": self.last_uri}
        self.do_inlineCompletion(step)
        if "cancel" not in step["body"]:
            self.client.wait(request)

    def part_cancel(self, step: dict[str, Any], request: int) -> None:
        self.client.notify("$/cancelRequest", {"id": request})

    def part_change1(self, step: dict[str, Any], request: int) -> None:
        version = self.versions.get(self.last_uri, 1) + 1
        self.versions[self.last_uri] = version
        self.client.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.last_uri, "version": version},
                "contentChanges": step["changes"],
            },
        )

    part_change3 = part_change1

    def part_didOpen_unique(self, step: dict[str, Any], request: int) -> None:
        self.do_didOpen({"uri": f"{self.uri}.{request}.{self.case.input.suffix}"})

    def part_didClose_unique(self, step: dict[str, Any], request: int) -> None:
        params = {"textDocument": {"uri": self.last_uri}}
        self.client.notify("textDocument/didClose", params)

    def step_stub_raises(self, step: dict[str, Any]) -> None:
        self.client.wait_for_note("niello/status", kind="ready")
        self.do_configure({"settings": {"inline": {"ahead": False}}})
        self.client.notify("stub/raise", step["stub_raises"])
        self.one_by_one = True

    # Steps that act on processes and pipes.

    def step_wait_ms(self, step: dict[str, Any]) -> None:
        time.sleep(step["wait_ms"] / 1000)

    def step_close_stdin(self, step: dict[str, Any]) -> None:
        self.idle_cpu = self.cpu_seconds()
        assert self.client.process.stdin is not None
        self.client.process.stdin.close()

    def step_close_stdout_reader(self, step: dict[str, Any]) -> None:
        self.client.close_reader()

    def step_kill_helper(self, step: dict[str, Any]) -> None:
        assert self.helper is not None
        self.helper.kill()
        self.helper.wait()

    def step_restart(self, step: dict[str, Any]) -> None:
        self.client.kill()
        self.asked.clear()
        self.client = self.start()

    # Expectations.

    def step_expect(self, step: dict[str, Any]) -> None:
        wanted = dict(step["expect"])
        if wanted.pop("of", None) == "initialize":
            for path, value in wanted.items():
                found: Any = {"result": self.answer}
                for name in path.split("."):
                    found = found.get(name) if isinstance(found, dict) else None
                choices = value["one_of"] if isinstance(value, dict) else [value]
                assert found in choices, f"{path}: {found!r}"
            return
        request = wanted.pop("id")
        within = wanted.pop("within_ms", 10_000) / 1000
        reply = self.client.wait(request, within)
        for name, value in wanted.items():
            assert self.holds(reply, name, value), f"{request} {name}={value}: {reply}"

    def holds(self, reply: dict[str, Any], name: str, value: Any) -> bool:
        return bool(CHECKS[name](self, reply, value))

    def step_expect_text(self, step: dict[str, Any]) -> None:
        uri = step.get("uri", self.last_uri)
        assert step["expect_text"] in self.texts_in_prompts(uri)

    def step_expect_exit(self, step: dict[str, Any]) -> None:
        wanted = step["expect_exit"]
        process = psutil.Process(self.client.process.pid)
        children = process.children(recursive=True)
        deadline = time.monotonic() + wanted["within_ms"] / 1000
        cpu_before = cpu = self.idle_cpu
        while self.client.process.poll() is None:
            assert time.monotonic() < deadline, "the server lives on"
            with suppress(psutil.Error):
                cpu = self.cpu_seconds()
            time.sleep(0.01)
        assert self.client.process.returncode == wanted.get(
            "code", self.client.process.returncode
        )
        assert (cpu - cpu_before) * 1000 < wanted.get("cpu_ms_below", float("inf"))
        assert len(psutil.wait_procs(children, 1)[1]) <= wanted.get("children_left", 0)

    def step_expect_message(self, step: dict[str, Any]) -> None:
        assert self.messages(), "no message to the user"

    def step_expect_rss_growth(self, step: dict[str, Any]) -> None:
        wanted = step["expect_rss_growth"]
        growth = self.round_rss[-1] - self.round_rss[wanted.get("from_round", 0)]
        assert growth <= wanted["max_mb"], f"grew by {growth:.1f} MB"

    # The end.

    def finish(self) -> None:
        """Hold what is left against the words of the case's ``check``."""
        lives = self.client.process.poll() is None
        if lives:
            for request in self.asked:
                self.client.wait(request, 10)
        for word in self.case.checks:
            name, _, value = word.replace("<=", "=").partition("=")
            if check := ENDS.get(name):
                check(self, value)
        if lives and "alive" in self.case.checks:
            client = self.client
            client.open("untitled:alive", "x = \n")
            client.request("textDocument/inlineCompletion", at("untitled:alive", 0, 4))
            assert client.close() == 0
