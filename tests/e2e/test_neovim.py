"""The Neovim plugin in a real Neovim: keys go in, the screen and the buffer come out.

The server is a fake with known answers, so that every test names the exact text.
"""

from collections.abc import Callable

import pytest
from e2e.neovim_host import Neovim, heard

pytestmark = pytest.mark.e2e

Open = Callable[..., Neovim]


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
