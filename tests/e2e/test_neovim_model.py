"""The real default model behind a real Neovim: what is shown is what is accepted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.neovim_fixture import REAL, start_neovim
from e2e.neovim_host import Neovim

from niello.engine.store import Store
from niello.infill.errors import ModelError

pytestmark = [pytest.mark.e2e, pytest.mark.model, pytest.mark.slow]

STACK = """\
class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
"""


@pytest.fixture(scope="module")
def neovim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neovim]:
    try:
        Store().path("default")
    except ModelError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("neovim")
    # The longest message of Neovim about a dead server must not wait for Enter.
    nvim = start_neovim(folder, STACK, command=REAL, init="vim.opt.cmdheight = 4")
    yield nvim
    nvim.close()


@pytest.fixture
def nvim(neovim: Neovim, tmp_path: Path) -> Neovim:
    neovim.keys("<Esc>")
    neovim.call("nvim_command", f"silent edit! {tmp_path / 'file.py'}")
    neovim.call("nvim_buf_set_lines", 0, 0, -1, True, STACK.splitlines())
    return neovim


def some_ghost(nvim: Neovim) -> str:
    """Wait for ghost text and return it."""
    nvim.until(lambda: nvim.ghost().strip(), "ghost text")
    return nvim.ghost().strip("\n")


def test_tab_writes_exactly_the_ghost_text(nvim: Neovim) -> None:
    nvim.keys("Goreturn ")
    ghost = some_ghost(nvim)
    nvim.keys("<Tab>")
    nvim.until_text(f"{STACK}        return {ghost}")


def test_a_word_is_the_head_of_the_ghost_text(nvim: Neovim) -> None:
    nvim.keys("Goreturn ")
    ghost = some_ghost(nvim)
    nvim.keys("<M-w>")
    nvim.until(lambda: nvim.text() != f"{STACK}        return ", "an accepted word")
    word = nvim.text().removeprefix(f"{STACK}        return ")
    assert word and ghost.startswith(word) and word != ghost
    nvim.until(lambda: nvim.ghost().strip("\n") == ghost[len(word) :], "the rest")


def test_a_line_of_a_body_is_accepted_at_a_time(nvim: Neovim) -> None:
    body = "\ndef mean(numbers):\n    total = 0\n"
    nvim.call("nvim_buf_set_lines", 0, -1, -1, True, body.splitlines())
    nvim.keys("GA<CR>")
    before = nvim.text()
    ghost = some_ghost(nvim)
    nvim.keys("<M-l>")
    nvim.until(lambda: nvim.text() != before, "an accepted line")
    assert nvim.text().removeprefix(before) == ghost.splitlines()[0]


def test_what_follows_the_cursor_is_kept(nvim: Neovim) -> None:
    call = "stack = Stack()\nstack.push()\nprint(stack.items)"
    nvim.call("nvim_buf_set_lines", 0, -1, -1, True, call.splitlines())
    nvim.keys("Gkf)i")
    before = nvim.text()
    ghost = some_ghost(nvim)
    nvim.keys("<Tab>")
    nvim.until_text(before.replace("stack.push()", f"stack.push({ghost})"))


def test_asking_brings_candidates_to_cycle(nvim: Neovim) -> None:
    lines = ["# Print a greeting.", "print()"]
    nvim.call("nvim_buf_set_lines", 0, 0, -1, True, lines)
    nvim.keys("Gf)i<M-\\>")
    nvim.until(
        lambda: any("(1/" in line for line in nvim.screen.lines()), "several candidates"
    )
    first = some_ghost(nvim)
    nvim.keys("<M-]>")
    nvim.until(lambda: nvim.ghost().strip("\n") not in ("", first), "another")
    ghost = some_ghost(nvim)
    nvim.keys("<Tab>")
    nvim.until_text(f"# Print a greeting.\nprint({ghost})")


def test_a_changed_name_is_followed_to_its_next_place(
    neovim: Neovim, tmp_path: Path
) -> None:
    text = "def area(width, height):\n    size = width * height\n    return size\n"
    nvim = start_neovim(tmp_path, text, command=REAL, options="next_edit = true")
    try:
        nvim.keys("2G0wciwtotal<Esc>")
        nvim.until_seen("return sizetotal")
        nvim.keys("<Tab>")
        nvim.until_text(text.replace("size", "total")[:-1])
    finally:
        nvim.close()


def test_a_code_action_fills(nvim: Neovim) -> None:
    nvim.call("nvim_buf_set_lines", 0, -1, -1, True, ["        return ⟦⟧"])
    nvim.keys("G:Niello action<CR>")
    nvim.until_seen("Niello:")
    menu = [line for line in nvim.screen.lines() if "marker" in line]
    assert menu, "\n".join(nvim.screen.lines())
    nvim.keys(f"{menu[0].strip().split(':')[0]}<CR>")
    nvim.until(lambda: "⟦⟧" not in nvim.text(), "the filled marker")
    assert nvim.text().startswith(STACK)


def test_a_killed_server_starts_again_and_fills(nvim: Neovim) -> None:
    first = nvim.lua("return require('niello').client().id")
    nvim.lua("vim.system({ 'pkill', '-KILL', '-P', tostring(vim.fn.getpid()) }):wait()")
    fresh = "local c = require('niello').client(); return c and c.id or 0"
    nvim.until(lambda: nvim.lua(fresh) > first, "a new client")
    ready = "return (require('niello.status').get() or {}).kind == 'ready'"
    nvim.until(lambda: nvim.lua(ready), "a ready server")
    nvim.keys("Goreturn ")
    some_ghost(nvim)
