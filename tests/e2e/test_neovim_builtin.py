"""The Neovim 0.12 path of the plugin, over a double of the built-in inline completion.

Neovim 0.11 has no such module; the double has the documented functions and shapes.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from e2e.neovim_host import Neovim

pytestmark = pytest.mark.e2e

DOUBLE = Path(__file__).with_name("neovim_builtin_double.lua")
INIT = f"dofile([[{DOUBLE}]])"
Open = Callable[..., Neovim]

SHOW = "vim.lsp.inline_completion.show(...)"


def test_attaching_enables_the_built_in(open_file: Open) -> None:
    nvim = open_file("x = 1\n", init=INIT)
    enabled = "return vim.lsp.inline_completion.is_enabled({ bufnr = vim.fn.bufnr() })"
    assert nvim.lua(enabled)
    assert nvim.lua("return package.loaded['niello.ghost'] == nil")
    nvim.keys(":Niello toggle<CR>")
    nvim.until_seen("Niello is off in this buffer")
    assert not nvim.lua(enabled)


def test_tab_accepts_what_the_built_in_shows(open_file: Open) -> None:
    nvim = open_file("total = compute()\n", init=INIT)
    nvim.keys("f)i")
    nvim.lua(SHOW, "total = compute(first, second)")
    nvim.keys("<Tab>")
    nvim.until_text("total = compute(first, second)")


def test_tab_without_a_built_in_suggestion_indents(open_file: Open) -> None:
    nvim = open_file("x = 1\n", init=INIT)
    nvim.keys("i<Tab>")
    nvim.until_text("    x = 1")


@pytest.mark.parametrize("early", [False, True])
def test_a_word_of_a_built_in_suggestion_is_accepted(
    open_file: Open, early: bool
) -> None:
    nvim = open_file("total = compute()\n", init=INIT)
    nvim.keys("f)i")
    nvim.lua(SHOW, "total = compute(first, second)", early)
    nvim.keys("<M-w>")
    nvim.until_text("total = compute(first)")
    nvim.lua(SHOW, "total = compute(first, second)", early)
    nvim.keys("<M-l>")
    nvim.until_text("total = compute(first, second)")


def test_cycling_goes_to_the_built_in(open_file: Open) -> None:
    nvim = open_file("x = 1\n", init=INIT)
    nvim.keys("i<M-]><M-]><M-[>")
    selected = "return vim.lsp.inline_completion.selected"
    nvim.until(lambda: nvim.lua(selected) == 1, "one step forward")


def test_a_dismissed_suggestion_stays_away_until_the_next_change(
    open_file: Open,
) -> None:
    nvim = open_file("x = 1\n", init=INIT)
    enabled = "return vim.lsp.inline_completion.is_enabled({ bufnr = vim.fn.bufnr() })"
    nvim.keys("A<C-]>")
    nvim.until(lambda: not nvim.lua(enabled), "switched off")
    nvim.keys("2")
    nvim.until(lambda: nvim.lua(enabled), "switched on again")
