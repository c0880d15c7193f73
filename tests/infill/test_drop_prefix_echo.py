import pytest
from filling import filled

from niello.infill.echo import drop_prefix_echo


def test_a_copy_of_the_typed_line_goes() -> None:
    assert filled("total = |\n", "python", "total = 3") == "total = 3\n"


def test_a_copy_of_the_lines_above_goes() -> None:
    above = ["def load(path):", "    text = read(path)"]
    written = "def load(path):\n    text = read(path)\n    return parse(text)"
    kept = drop_prefix_echo(written, "", above)
    assert kept == "    return parse(text)"


def test_a_copy_and_nothing_else_leaves_nothing() -> None:
    assert drop_prefix_echo("total =", "total = ", []) == ""


def test_one_line_said_again_on_purpose_stays() -> None:
    assert drop_prefix_echo("step()\nrest()", "", ["step()"]) == "step()\nrest()"


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        ("x = |\n", "python", "x = 1", "x = 1\n"),
        ("f(a=1, b=|)\n", "python", "b=2)", "f(a=1, b=2)\n"),
        ("a { b: c; color: | }\n", "css", "color: red", "a { b: c; color: red }\n"),
        ('{"a": |}\n', "json", '"a": 1}', '{"a": 1}\n'),
        ("void f() { int n = |; }\n", "c", "int n = 3;", "void f() { int n = 3; }\n"),
        ("x = |\n", "python", "x == 1", "x = x == 1\n"),
        ('x = "00:|"\n', "python", "00:00", 'x = "00:00:00"\n'),
    ],
)
def test_a_copy_of_what_waits_for_a_value_goes(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        (
            "x = await fetchDa|\n",
            "python",
            "await fetchData()",
            "x = await fetchData()\n",
        ),
        ("# |\nx = 1\n", "python", "# Set x.", "# Set x.\nx = 1\n"),
        ("x = 1  # |\n", "python", "# one", "x = 1  # one\n"),
        ("/**\n * |\n */\n", "javascript", "* Does it.", "/**\n * Does it.\n */\n"),
        ("- a\n- |\n", "markdown", "- b", "- a\n- b\n"),
        ("x = a - |\n", "python", "-b", "x = a - -b\n"),
        ("f(string, |)\n", "python", "string, c", "f(string, string, c)\n"),
        ("x = abspath(|)\n", "python", "abspath(a)", "x = abspath(abspath(a))\n"),
    ],
)
def test_the_end_of_what_was_typed_is_not_said_again(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want


@pytest.mark.parametrize(
    ("marked", "written", "want"),
    [
        ("dist = 3\nx = di|\n", "dist * 2", "dist = 3\nx = dist * 2\n"),
        ("x = self.item|\n", "items[0]", "x = self.items[0]\n"),
        ("x = di|\n", "rect(3)", "x = direct(3)\n"),
        ("a = haha\nx = ha|\n", "ha", "a = haha\nx = haha\n"),
        ('x = "cos|"\n', "cosine", 'x = "coscosine"\n'),
    ],
)
def test_a_word_that_has_begun_is_not_begun_again(
    marked: str, written: str, want: str
) -> None:
    assert filled(marked, "python", written) == want


def test_nothing_but_a_copy_of_the_lines_above_is_not_shown() -> None:
    text = "def f():\n    first = read(1)\n    second = read(2)\n    |\n"
    assert filled(text, "python", "first = read(1)\n    second = read(2)") is None
    assert filled("tick()\n|\n", "python", "tick()") == "tick()\ntick()\n"
    assert filled("a = read(1)\n|\n", "python", "a = read(1)") is None
    assert filled("a = read(1)\n|\n", "python", "a = read(1)\nb = 2") == (
        "a = read(1)\nb = 2\n"
    )
    cell = '<td class="cell"></td>'
    text = f"<tr>\n  {cell}\n  |\n</tr>\n"
    assert filled(text, "html", cell) == text.replace("|", cell)
