"""The server of an exchange case: started, watched, and ended."""

import json
import re
from subprocess import Popen
from typing import Any

import psutil
from cases import Case
from stub_client import start_stub

from niello.bench.client import Client


class Served:
    """One server for one case, and what is known of it from outside."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.uri = case.input.as_uri()
        self.last_uri = self.uri
        self.encoding = "utf-16"
        self.asked: list[Any] = []
        self.helper: Popen[bytes] | None = None
        self.round_rss: list[float] = []
        self.one_by_one = False
        self.versions: dict[str, int] = {}
        self.idle_cpu = 0.0
        script: dict[str, Any] = {"texts": case.model_outputs}
        if found := re.search(r"takes (\d+) ms a call", case.table.get("note", "")):
            # One forward pass: nothing looks at the stop flag in between.
            script |= {"ms": int(found[1]), "step_ms": int(found[1])}
        self.script = script
        self.scratch = case.folder / "server"
        self.client = self.start()

    def start(self) -> Client:
        return start_stub(self.scratch, self.script, self.case.table.get("env"))

    def end(self) -> None:
        """Leave nothing running."""
        if self.client.process.poll() is None:
            self.client.kill()
        if self.helper is not None:
            self.helper.kill()
            self.helper.wait()

    def texts_in_prompts(self, uri: str) -> list[str]:
        """Return the text as the model saw it; a fill that is refilled asks twice."""
        for each in self.asked:  # A newer question would take the place of these.
            self.client.wait(each)
        record = self.scratch / "record"
        n_before = len(record.read_text("utf-8").splitlines()) if record.exists() else 0
        command = {"command": "niello.clearCache"}
        self.client.request("workspace/executeCommand", command)
        self.client.request("textDocument/inlineCompletion", at(uri, 2**31 - 1, 0))
        lines = record.read_text("utf-8").splitlines()[n_before:]
        prompts = [json.loads(line) for line in lines]
        return [prefix + given + suffix for prefix, given, suffix, _ in prompts]

    def language(self) -> str:
        suffix = self.case.input.suffix
        return {".py": "python", ".js": "javascript", ".rs": "rust"}.get(
            suffix, suffix.lstrip(".")
        )

    def cpu_seconds(self) -> float:
        times = psutil.Process(self.client.process.pid).cpu_times()
        return float(times.user + times.system)

    def messages(self) -> list[str]:
        return [
            each["params"]["message"]
            for each in self.client.notes
            if each["method"] == "window/showMessage"
        ]

    def said(self) -> str:
        notes = [
            json.dumps(each)
            for each in self.client.notes
            if each["method"] in ("window/showMessage", "window/logMessage")
        ]
        files = [self.scratch / "stderr", *self.scratch.glob("server.log*")]
        texts = [each.read_text("utf-8", "replace") for each in files if each.exists()]
        return "\n".join(texts + notes)


def at(uri: str, line: int, character: int) -> dict[str, Any]:
    return {
        "textDocument": {"uri": uri},
        "position": {"line": line, "character": character},
        "context": {"triggerKind": 1},
    }
