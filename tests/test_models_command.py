import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hub_server import running
from safetensors.torch import save
from torch import ones

from niello import models_command
from niello.infill.errors import ModelError

CHECKPOINT = {
    "owner/name/config.json": b'{"model_type": "dream"}',
    "owner/name/tokenizer.json": b"{}",
    "owner/name/model.safetensors": save({"w": ones(300_000)}),
}
PULL = """
import sys
from niello.engine.store import Store
Store().pull("owner/name", lambda step, done, total: print(done, flush=True))
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NIELLO_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NIELLO_MODEL_FILE", raising=False)
    return tmp_path / "home"


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    models_command.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["models", *words])
    return int(arguments.run(arguments))


def start_pull(**environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PULL],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def asks_proxy(**environment: str) -> bool:
    """Pull over https with a listener as proxy; say whether it was asked to connect."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        seen: list[bytes] = []

        def listen() -> None:
            with listener.accept()[0] as client:
                listener.close()
                seen.append(client.recv(100))

        thread = threading.Thread(target=listen)
        thread.start()
        place = listener.getsockname()
        address = f"http://127.0.0.1:{place[1]}"
        process = start_pull(
            HTTPS_PROXY=address,
            https_proxy=address,
            HF_ENDPOINT="https://hub.invalid",
            **environment,
        )
        process.communicate(timeout=60)
        # End the wait of a listener that was not asked.
        with suppress(OSError):
            socket.create_connection(place).close()
        thread.join()
    return seen[0].startswith(b"CONNECT hub.invalid:443")


def test_list_shows_the_default_model_before_it_is_fetched(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("list") == 0
    assert capsys.readouterr().out.startswith("default  absent")


def test_show_of_a_model_that_is_not_here_exits_with_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("show", "--json") == 1
    assert json.loads(capsys.readouterr().out)["state"] == "absent"


def test_a_pull_prints_the_folder_and_tells_its_progress_on_standard_error(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(CHECKPOINT) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        assert run("pull", "owner/name") == 0
    written = capsys.readouterr()
    assert written.out == f"{home / 'models' / 'owner--name'}\n"
    assert "Downloading: 1.2 MB" in written.err
    assert run("path", "owner/name") == 0
    assert capsys.readouterr().out == written.out


def test_show_of_a_damaged_model_says_what_to_do(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(CHECKPOINT) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run("pull", "owner/name")
    with (home / "models/owner--name/model.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\1")
    with pytest.raises(ModelError, match="niello models pull"):
        run("show", "owner/name")


def test_a_removed_model_is_gone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(CHECKPOINT) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run("pull", "owner/name")
    assert run("rm", "owner/name") == 0
    assert not list((home / "models").iterdir())


def test_the_proxy_of_the_environment_is_used() -> None:
    assert asks_proxy()


def test_a_host_without_proxy_is_asked_directly() -> None:
    assert not asks_proxy(NO_PROXY="hub.invalid", no_proxy="hub.invalid")


def test_an_interrupt_leaves_what_the_next_pull_goes_on_with(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    with running(CHECKPOINT) as hub:
        hub.pause_after = 500_000
        process = start_pull(HF_ENDPOINT=hub.endpoint)
        assert process.stdout
        while int(process.stdout.readline()) < 500_000:
            pass
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        hub.go_on.set()
        (part,) = home.glob("models/*/model.safetensors.part")
        have = part.stat().st_size
        assert have > 0
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        assert run("pull", "owner/name") == 0
        assert hub.asked[-1][1] == f"bytes={have}-"
