"""What can go wrong around a model, done to it on purpose."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest


def interrupt(step: str, after: int) -> Callable[[str, int, int], None]:
    """Return a progress that presses Ctrl-C once a step has done so many bytes."""

    def progress(now: str, done: int, total: int) -> None:
        if now == step and done > after:
            raise KeyboardInterrupt

    return progress


def change_one_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1000] ^= 1
    path.write_bytes(content)


def forbid_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        pytest.fail(f"asked the network: {arguments}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
