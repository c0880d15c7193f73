"""The plugin as people install it: a plain package, or a manager that loads it late."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from e2e.neovim_fixture import FAKE, lua_list
from e2e.neovim_host import PLUGIN, Neovim

pytestmark = pytest.mark.e2e
Start = Callable[[str], Neovim]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    opened: list[Neovim] = []

    def start_one(init: str) -> Neovim:
        (tmp_path / "file.py").write_text("def add(a, b):\n")
        opened.append(Neovim(tmp_path, init))
        return opened[-1]

    yield start_one
    for nvim in opened:
        nvim.close()


def fill(nvim: Neovim) -> None:
    """Open the file and see ghost text."""
    nvim.call("nvim_command", "edit file.py")
    ready = "return (require('niello.status').get() or {}).kind == 'ready'"
    nvim.until(lambda: nvim.lua(ready), "the server's word that it is ready")
    nvim.keys("oreturn ")
    nvim.until_ghost("a + b")


def test_a_plain_package_starts_by_itself(start: Start, tmp_path: Path) -> None:
    package = tmp_path / "site" / "pack" / "niello" / "start" / "niello"
    package.parent.mkdir(parents=True)
    package.symlink_to(PLUGIN)
    nvim = start(
        f"vim.opt.packpath:prepend([[{tmp_path / 'site'}]])\n"
        f"vim.g.niello = {{ cmd = {lua_list(FAKE)} }}\n"
    )
    fill(nvim)


def test_a_plugin_manager_may_load_it_late(start: Start) -> None:
    nvim = start("")
    nvim.until(lambda: nvim.lua("return vim.v.vim_did_enter == 1"), "the start")
    nvim.lua(
        f"vim.opt.runtimepath:prepend([[{PLUGIN}]])\n"
        f"vim.cmd.source([[{PLUGIN / 'plugin' / 'niello.lua'}]])\n"
        f"require('niello').setup({{ cmd = {lua_list(FAKE)} }})\n"
    )
    fill(nvim)


def test_the_commands_complete(start: Start) -> None:
    nvim = start(f"vim.opt.runtimepath:prepend([[{PLUGIN}]])\n")
    complete = "return vim.fn.getcompletion('Niello to', 'cmdline')"
    nvim.until(lambda: nvim.lua(complete) == ["toggle"], "the completion")
    complete = "return vim.fn.getcompletion('Niello toggle ', 'cmdline')"
    assert nvim.lua(complete) == ["language"]
