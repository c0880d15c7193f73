"""Runs ``command`` cases that start with a model or fetch one, in real processes.

``handles(case)`` says whether a case is of this sort; cases_command.py asks it first.
"""

import hashlib
import os
import re
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cases import Case
from tiny_model import make_tiny_model

from niello.bench.client import Client
from niello.engine.store import Store

SOURCES = Path(__file__).resolve().parent.parent / "src"
NIELLO = [sys.executable, "-m", "niello"]
# Runs at the start of each process: counts what asks the network, sets the free space.
SPY = """
import os, shutil, socket

def told(name, real):
    def call(*arguments, **named):
        with open(os.environ["NIELLO_SPY"], "a") as file:
            print(name, *arguments, file=file)
        return real(*arguments, **named)
    return call

socket.getaddrinfo = told("getaddrinfo", socket.getaddrinfo)
socket.socket.connect = told("connect", socket.socket.connect)
if "NIELLO_FREE" in os.environ:
    usage = shutil.disk_usage
    free = int(os.environ["NIELLO_FREE"])
    shutil.disk_usage = lambda path: usage(path)._replace(free=free)
"""


def handles(case: Case) -> bool:
    """Say whether the case's command starts with a model or fetches one."""
    command = str(case.table.get("command", ""))
    return re.match(r"(start|fetch)\b.*\bmodel\b", command) is not None


def run(case: Case) -> None:
    facts = read_facts(case)
    if "free" in facts:
        fetch_without_room(case, int(facts["needed"]), int(facts["free"]))
    elif "url" in facts:
        fetch_through_proxy(case, facts["url"])
    elif (case.folder / "model").is_dir():
        start_with_damaged_model(case)
    else:
        start_from_disk(case, facts.get("registry"))


def read_facts(case: Case) -> dict[str, str]:
    try:
        table = tomllib.loads((case.folder / case.table["input"]).read_text("utf-8"))
    except tomllib.TOMLDecodeError:
        return {}
    return {key: str(value) for key, value in table.items()}


def environment(case: Case, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return that of a process that keeps its models and its spy in the case."""
    spy = case.folder / "spy"
    spy.mkdir(exist_ok=True)
    (spy / "sitecustomize.py").write_text(SPY)
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.lower().endswith("_proxy")
    }
    return {
        **inherited,
        "PYTHONPATH": os.pathsep.join([str(spy), str(SOURCES)]),
        "NIELLO_HOME": str(case.folder / "home"),
        "NIELLO_SPY": str(spy / "asked"),
        **(extra or {}),
    }


def asked(case: Case) -> str:
    """Return what was asked of the network."""
    path = case.folder / "spy" / "asked"
    return path.read_text() if path.exists() else ""


def niello(
    case: Case, *words: str, extra: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*NIELLO, *words],
        cwd=case.folder,
        env=environment(case, extra),
        capture_output=True,
        text=True,
        timeout=120,
    )


def fetch_without_room(case: Case, needed: int, free: int) -> None:
    source = case.folder / "source"
    source.mkdir()
    (source / "config.json").write_text("{}")
    (source / "tokenizer.json").write_text("{}")
    (source / "model.safetensors").write_bytes(bytes(needed - 4))
    words = ("models", "pull", "owner/name", "--from", "source")
    done = niello(case, *words, extra={"NIELLO_FREE": str(free)})
    assert done.returncode == 2, done.stderr
    assert str(needed) in done.stderr
    assert str(free) in done.stderr
    left = [path.name for path in case.folder.glob("home/models/**/*")]
    assert not left, left


def fetch_through_proxy(case: Case, url: str) -> None:
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    hub = {"HF_ENDPOINT": f"{scheme}://{host}"}
    for around in (None, host):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            place = listener.getsockname()
            heard: list[bytes] = []
            thread = threading.Thread(target=listen, args=(listener, heard))
            thread.start()
            proxies = {
                name: value.replace("${PORT}", str(place[1]))
                for name, value in case.table["env"].items()
            }
            exception = {"NO_PROXY": around, "no_proxy": around} if around else {}
            extra = hub | proxies | exception
            done = niello(case, "models", "pull", "owner/name", extra=extra)
            # End the wait of a listener that was not asked.
            with suppress(OSError):
                socket.create_connection(place).close()
            thread.join()
        assert heard[0].startswith(f"CONNECT {host}".encode()) == (around is None)
        assert "Traceback" not in done.stderr
    assert asked(case), "the spy is not at work"


def listen(listener: socket.socket, heard: list[bytes]) -> None:
    with listener.accept()[0] as client:
        listener.close()
        heard.append(client.recv(200))


def start_with_damaged_model(case: Case) -> None:
    place = f"{case.table['input']}:1:1"
    shown = niello(case, "models", "show", "./model")
    filled = niello(case, "fill", place, "--engine", "./model")
    for done in (shown, filled):
        assert done.returncode == 2, done
        assert "Traceback" not in done.stderr
        assert_cause_is_named(case, done.stderr)


def assert_cause_is_named(case: Case, message: str) -> None:
    """Hold a message to what was found and what was expected."""
    assert "model" in message
    weights = case.folder / "model" / "model.safetensors"
    if not weights.exists():
        return
    content = weights.read_bytes()
    sums = weights.with_name("SHA256SUMS")
    ends = re.findall(rb'"data_offsets":\s*\[\d+,\s*(\d+)\]', content)
    assert weights.name in message
    if sums.exists():
        assert sums.read_text().split()[0] in message
        assert hashlib.sha256(content).hexdigest() in message
    elif ends:
        needed = 8 + int.from_bytes(content[:8], "little") + max(map(int, ends))
        assert str(len(content)) in message
        assert str(needed) in message


def start_from_disk(case: Case, registry: str | None) -> None:
    """Serve ten requests from a model on disk; nothing may ask the network."""
    tiny = make_tiny_model(case.folder / "tiny")
    store = Store(case.folder / "home", {"tiny": tiny.known}, tiny.adapters)
    store.pull("tiny", source=case.folder / "tiny" / tiny.known.file)
    os.rename(case.folder / "home" / "models" / "tiny", case.folder / "model")
    extra = {"HF_ENDPOINT": registry} if registry else {}
    client = Client(
        [*NIELLO, "serve"], environment(case, extra), case.folder / "stderr"
    )
    try:
        model = {"model": str(case.folder / "model")}
        client.initialize(initializationOptions=model)
        client.open("file:///case.py", "def f(x):\n    return \n")
        client.wait_for_note("niello/status", kind="ready")
        for _ in range(10):
            client.inline("file:///case.py", (1, 11))
        assert client.close() == 0
    finally:
        client.kill()
    assert asked(case) == ""
    assert "Traceback" not in (case.folder / "stderr").read_text()
