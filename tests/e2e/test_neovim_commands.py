"""The commands, next edits and settings of the Neovim plugin in a real Neovim."""

from collections.abc import Callable
from pathlib import Path

import pytest
from e2e.neovim_host import PLUGIN, Neovim, heard

pytestmark = pytest.mark.e2e

Open = Callable[..., Neovim]


def test_a_next_edit_is_shown_and_one_key_applies_it(open_file: Open) -> None:
    text = "def f(self):\n    self.entries = []\n    self.items.pop()\n"
    nvim = open_file(text)
    nvim.keys(":Niello next-edit<CR>")
    nvim.until_seen("self.itemsentries.pop()")
    assert nvim.text() + "\n" == text
    nvim.keys("<Tab>")
    nvim.until_text(text.replace("items", "entries")[:-1])
    nvim.until(
        lambda: not nvim.lua("return #vim.fn.maparg('<Tab>', 'n') > 0"), "no key"
    )


def test_next_edits_follow_each_other(open_file: Open) -> None:
    text = "self.entries = []\nself.items.pop()\nself.items.sort()\n"
    nvim = open_file(text)
    nvim.keys(":Niello next-edit<CR>")
    nvim.until_seen("self.itemsentries.pop()")
    nvim.keys("<Tab>")
    nvim.until_seen("self.itemsentries.sort()")
    nvim.keys("<Tab>")
    nvim.until_text(text.replace("items", "entries")[:-1])


def test_a_next_edit_goes_away_with_another_change(open_file: Open) -> None:
    text = "self.entries = []\nself.items.pop()\n"
    nvim = open_file(text)
    nvim.keys(":Niello next-edit<CR>")
    nvim.until_seen("self.itemsentries.pop()")
    nvim.keys("x")
    nvim.until_seen("self.items.pop()")
    nvim.until_text(text[1:-1])


def test_a_code_action_is_applied(open_file: Open) -> None:
    nvim = open_file("x = 1\n")
    nvim.keys(":Niello action<CR>")
    nvim.until_seen("Fill here")
    nvim.keys("1<CR>")
    nvim.until_text("# filled\nx = 1")


def test_an_instruction_goes_to_the_server_with_the_action(open_file: Open) -> None:
    nvim = open_file("x = 1\n")
    nvim.keys(":%Niello action say it in French<CR>")
    nvim.until_seen("Fill here")
    nvim.keys("1<CR>")
    nvim.until(
        lambda: (
            [
                argument["instruction"]
                for each in heard(nvim, "niello.edit")
                for argument in each["arguments"]
            ]
            == ["say it in French"]
        ),
        "the instruction",
    )
    assert nvim.text() == "x = 1"


def test_the_status_tells_reason_and_progress(open_file: Open) -> None:
    options = "set statusline=%{v:lua.require'niello'.statusline()} | set laststatus=2"
    nvim = open_file("x = 1\n", init=f"vim.cmd([[{options}]])")
    nvim.until_seen("Niello: ready")
    nvim.lua(
        """
        local client = require('niello').client()
        local arguments = { 'loading', 'reading the weights', 40 }
        local params = { command = 'fake.status', arguments = arguments }
        client:request_sync('workspace/executeCommand', params, 5000)
        """
    )
    nvim.until_seen("Niello: loading 40%")
    nvim.keys(":Niello status<CR>")
    nvim.until_seen("Niello is loading (40 %): reading the weights")


def test_a_killed_server_starts_again_and_fills(open_file: Open) -> None:
    # Neovim's own message about the death is long; a full line would wait for Enter.
    nvim = open_file("def add(a, b):\n", init="vim.opt.cmdheight = 4")
    first = nvim.lua("return require('niello').client().id")
    nvim.lua(
        """
        require('niello').client():request('workspace/executeCommand',
            { command = 'fake.die' }, function() end)
        """
    )
    fresh = "local c = require('niello').client(); return c and c.id or 0"
    nvim.until(lambda: nvim.lua(fresh) > first, "a new client")
    nvim.keys("oreturn ")
    nvim.until_ghost("a + b")


def test_toggling_silences_the_buffer_and_back(open_file: Open) -> None:
    nvim = open_file("def add(a, b):\n")
    nvim.keys(":Niello toggle<CR>")
    nvim.until_seen("Niello is off in this buffer")
    nvim.keys("oreturn ")
    nvim.until_text("def add(a, b):\n    return ")
    assert nvim.ghost() == ""
    assert heard(nvim, "inline") == []
    nvim.keys("<Esc>:Niello toggle<CR>")
    nvim.until_seen("Niello is on in this buffer")
    nvim.keys("A")
    nvim.until_ghost("a + b")


def test_toggling_a_language_silences_its_buffers(open_file: Open) -> None:
    nvim = open_file("def add(a, b):\n")
    nvim.keys(":Niello toggle language<CR>")
    nvim.until_seen("Niello is off for python")
    nvim.keys("oreturn ")
    nvim.until_text("def add(a, b):\n    return ")
    assert heard(nvim, "inline") == []


def test_changed_settings_reach_the_server(open_file: Open) -> None:
    nvim = open_file("x = 1\n", options="settings = { debounce = 5 }")
    settings = nvim.until(lambda: heard(nvim, "settings"), "the settings")
    assert settings[0]["settings"] == {"niello": {"debounce": 5}}


def test_ordinary_completion_is_there_for_menus(open_file: Open) -> None:
    nvim = open_file("total = compute()\n", options="auto = false")
    nvim.keys(":set completeopt=menuone,noinsert<CR>")
    nvim.keys("f)i<C-x><C-o>")
    nvim.until(lambda: nvim.lua("return vim.fn.pumvisible()"), "the menu")
    nvim.until_seen("first, second")


def test_the_log_and_model_commands_reach_the_server(open_file: Open) -> None:
    nvim = open_file("x = 1\n")
    nvim.keys(":Niello pull-model<CR>")
    nvim.until(lambda: heard(nvim, "niello.pullModel"), "the model command")
    nvim.keys(":Niello clear-cache<CR>")
    nvim.until(lambda: heard(nvim, "niello.clearCache"), "the cache command")
    nvim.keys(":Niello log<CR>")
    nvim.until_seen("A tiny language server with known answers")


def test_an_unknown_option_is_an_error(open_file: Open) -> None:
    nvim = open_file("x = 1\n")
    call = "return select(2, pcall(require('niello').setup, { debunce = 1 }))"
    assert "there is no option" in nvim.lua(call)


def test_checkhealth_finds_the_server(open_file: Open) -> None:
    nvim = open_file("x = 1\n")
    nvim.keys(":checkhealth niello<CR>")
    nvim.until_seen("Server fake-niello 0 runs")
    report = nvim.text()
    assert "ERROR" not in report
    assert "Niello is ready: default model" in report


def test_the_help_file_has_its_tags(open_file: Open, tmp_path: Path) -> None:
    nvim = open_file("x = 1\n")
    nvim.lua("vim.cmd.helptags(vim.fn.fnameescape(...))", str(PLUGIN / "doc"))
    try:
        nvim.keys(":help niello-options<CR>")
        nvim.until_seen("niello-options")
    finally:
        (PLUGIN / "doc" / "tags").unlink()
