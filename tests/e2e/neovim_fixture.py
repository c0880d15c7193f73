"""The fixture that opens a file in a Neovim with the plugin and the fake server."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .neovim_host import PLUGIN, Neovim

FAKE = Path(__file__).with_name("clients_fake_server.py")
Open = Callable[..., Neovim]


@pytest.fixture
def open_file(tmp_path: Path) -> Iterator[Open]:
    opened: list[Neovim] = []

    def open_one(
        text: str, name: str = "file.py", options: str = "", init: str = ""
    ) -> Neovim:
        path = tmp_path / name
        path.write_text(text)
        command = json.dumps([sys.executable, str(FAKE)]).replace("[", "{", 1)
        setup = f"""
            vim.opt.runtimepath:prepend([[{PLUGIN}]])
            vim.opt.swapfile = false
            {init}
            require('niello').setup({{ cmd = {command[:-1]}}}, {options} }})
        """
        nvim = Neovim(tmp_path, setup)
        opened.append(nvim)
        nvim.call("nvim_command", f"edit {path}")
        ready = "return require('niello.status').get() ~= nil"
        nvim.until(lambda: nvim.lua(ready), "the server's status")
        return nvim

    yield open_one
    for nvim in opened:
        nvim.close()
