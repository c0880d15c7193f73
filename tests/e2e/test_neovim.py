"""The Neovim plugin in a real Neovim: keys go in, the screen and the buffer come out.

The server is a fake with known answers, so that every test names the exact text.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from e2e.neovim_host import PLUGIN, Neovim

pytestmark = pytest.mark.e2e

Open = Callable[..., Neovim]


def heard(nvim: Neovim, method: str) -> list[dict[str, object]]:
    """Return what the server heard of a method."""
    entries = nvim.lua(
        """
        local client = require('niello').client()
        local params = { command = 'fake.heard' }
        return client:request_sync('workspace/executeCommand', params, 5000).result
        """
    )
    return [entry for entry in entries if entry["method"] == method]


def test_typing_shows_ghost_text_and_tab_accepts_it(open_file: Open) -> None:
    nvim = open_file("def add(a, b):\n")
    nvim.keys("oreturn ")
    nvim.until_ghost("a + b")
    nvim.keys("<Tab>")
    nvim.until_text("def add(a, b):\n    return a + b")
    nvim.until_ghost("")
    nvim.until(lambda: heard(nvim, "fake.accepted"), "the accept command")


def test_tab_without_ghost_text_indents(open_file: Open) -> None:
    nvim = open_file("x = 1\n")
    nvim.keys("i<Tab><Esc>")
    nvim.until_text("    x = 1")


def test_tab_keeps_a_mapping_the_user_had(open_file: Open) -> None:
    nvim = open_file("", init="vim.keymap.set('i', '<Tab>', 'mine')")
    nvim.keys("i<Tab>")
    nvim.until_text("mine")


def test_accepting_is_one_step_to_undo(open_file: Open) -> None:
    nvim = open_file("def add(a, b):\n")
    nvim.keys("oreturn ")
    nvim.until_ghost("a + b")
    nvim.keys("<Tab><Esc>")
    nvim.until_text("def add(a, b):\n    return a + b")
    nvim.keys("u")
    nvim.until_text("def add(a, b):\n    return ")


def test_a_word_is_accepted_at_a_time(open_file: Open) -> None:
    nvim = open_file("total = compute()\n")
    nvim.keys("f)i")
    nvim.until_ghost("first, second")
    nvim.keys("<M-w>")
    nvim.until_text("total = compute(first)")
    nvim.until_ghost(", second")
    nvim.keys("<M-w>")
    nvim.until_text("total = compute(first,)")
    nvim.keys("<M-w>")
    nvim.until_text("total = compute(first, second)")
    nvim.until_ghost("")


def test_a_line_is_accepted_at_a_time(open_file: Open) -> None:
    nvim = open_file("def area(w, h):\nprint()\n")
    nvim.keys("A")
    nvim.until_ghost("    size = w * h\n    return size")
    nvim.keys("<M-l>")
    nvim.until_text("def area(w, h):\n    size = w * h\nprint()")
    nvim.until_ghost("    return size")
    nvim.keys("<M-l>")
    nvim.until_text("def area(w, h):\n    size = w * h\n    return size\nprint()")


def test_what_follows_the_cursor_is_kept_below_several_lines(open_file: Open) -> None:
    nvim = open_file("rows = []\n")
    nvim.keys("A<Left>")
    nvim.until_ghost("    1,\n    2,\n]")
    nvim.keys("<Tab>")
    nvim.until_text("rows = [\n    1,\n    2,\n]")


def test_a_fill_may_replace_what_follows_the_cursor(open_file: Open) -> None:
    nvim = open_file("value = max()\n")
    nvim.keys("A<Left>")
    nvim.until_ghost("low, min(high, x))  # clamp")
    nvim.keys("<Tab>")
    nvim.until_text("value = max(low, min(high, x))  # clamp")


def test_typing_through_keeps_the_rest_and_leaving_it_takes_it_away(
    open_file: Open,
) -> None:
    nvim = open_file("def add(a, b):\n")
    nvim.keys("oreturn ")
    nvim.until_ghost("a + b")
    nvim.keys("a +")
    nvim.until_ghost(" b")
    nvim.keys("<BS>")
    nvim.until_ghost("+ b")
    nvim.keys("x")
    nvim.until_ghost("")


def test_a_trigger_brings_several_to_cycle_through(open_file: Open) -> None:
    nvim = open_file("def add(a, b):\n", options="auto = false")
    nvim.keys("oreturn ")
    nvim.keys("<M-\\>")
    nvim.until_ghost("a + b")
    nvim.until_seen("(1/3)")
    nvim.keys("<M-]>")
    nvim.until_ghost("a - b")
    nvim.keys("<M-[><M-[>")
    nvim.until_ghost("sum((a, b))")
    nvim.keys("<Tab>")
    nvim.until_text("def add(a, b):\n    return sum((a, b))")
    assert [entry["kind"] for entry in heard(nvim, "inline")] == [1]


def test_a_trigger_is_not_undone_by_the_keys_before_it(open_file: Open) -> None:
    nvim = open_file("def add(a, b):\n    return \n")
    nvim.keys("jA<M-\\>")
    nvim.until_seen("(1/3)")


def test_dismissing_and_leaving_insert_mode_take_ghost_text_away(
    open_file: Open,
) -> None:
    nvim = open_file("def add(a, b):\n")
    nvim.keys("oreturn ")
    nvim.until_ghost("a + b")
    nvim.keys("<C-]>")
    nvim.until_ghost("")
    nvim.keys("<Esc>A ")
    nvim.keys("<BS>")
    nvim.until_ghost("a + b")
    nvim.keys("<Esc>")
    nvim.until_ghost("")
    nvim.until_text("def add(a, b):\n    return ")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_positions_hold_beyond_ascii(open_file: Open, encoding: str) -> None:
    offers = f"""
        vim.lsp.config('niello', {{
            capabilities = {{ general = {{ positionEncodings = {{ '{encoding}' }} }} }},
        }})
    """
    nvim = open_file('greet = "héllo 😀 "\n', init=offers)
    nvim.keys("A<Left>")
    nvim.until_ghost("wörld, привет")
    nvim.keys("<M-w>")
    nvim.until_text('greet = "héllo 😀 wörld"')
    nvim.keys("<Tab>")
    nvim.until_text('greet = "héllo 😀 wörld, привет"')


def test_tabs_stay_tabs(open_file: Open) -> None:
    nvim = open_file("\tif ready \n", name="file.c")
    nvim.keys("A")
    nvim.until(lambda: "run();" in nvim.ghost(), "the body")
    nvim.keys("<Tab>")
    nvim.until_text("\tif ready {\n\t\trun();\n\t}")


def test_a_late_answer_to_an_older_text_is_not_shown(open_file: Open) -> None:
    nvim = open_file("def add(a, b):\n")
    nvim.lua(
        """
        local client = require('niello').client()
        local params = { command = 'fake.slow', arguments = { 0.2 } }
        client:request_sync('workspace/executeCommand', params, 5000)
        """
    )
    nvim.keys("oreturn ")
    nvim.until(lambda: heard(nvim, "inline"), "the first request")
    nvim.keys("x")
    nvim.until(lambda: len(heard(nvim, "inline")) >= 2, "the second request")
    assert nvim.ghost() == ""
    nvim.keys("<BS>")
    nvim.until_ghost("a + b")


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
