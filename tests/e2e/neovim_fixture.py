"""Opening a file in a Neovim with the plugin and a server: the fake one or the real."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from .neovim_host import PLUGIN, REPOSITORY, Neovim

FAKE = (sys.executable, str(Path(__file__).with_name("clients_fake_server.py")))
REAL = (
    *("env", f"PYTHONPATH={REPOSITORY / 'src'}{os.pathsep}"),
    *(sys.executable, "-m", "niello", "serve"),
)
Open = Callable[..., Neovim]


def lua_list(items: Sequence[str]) -> str:
    """Write texts as a Lua list."""
    return "{" + ", ".join(f"[[{item}]]" for item in items) + "}"


def start_neovim(
    folder: Path,
    text: str,
    name: str = "file.py",
    options: str = "",
    init: str = "",
    command: Sequence[str] = FAKE,
) -> Neovim:
    """Open a text as a file and wait until the server says that it is ready."""
    path = folder / name
    path.write_text(text, "utf-8")
    setup = f"""
        vim.opt.runtimepath:prepend([[{PLUGIN}]])
        vim.opt.swapfile = false
        {init}
        require('niello').setup({{ cmd = {lua_list(command)}, {options} }})
    """
    nvim = Neovim(folder, setup)
    try:
        nvim.call("nvim_command", f"edit {path}")
        ready = "return (require('niello.status').get() or {}).kind == 'ready'"
        nvim.until(lambda: nvim.lua(ready), "the server's word that it is ready")
    except BaseException:
        nvim.close()
        raise
    return nvim


@pytest.fixture
def open_file(tmp_path: Path) -> Iterator[Open]:
    """Yield `start_neovim` in a folder of the test's own."""
    opened: list[Neovim] = []

    def open_one(text: str, **more: str) -> Neovim:
        opened.append(start_neovim(tmp_path, text, **more))
        return opened[-1]

    yield open_one
    for nvim in opened:
        nvim.close()
