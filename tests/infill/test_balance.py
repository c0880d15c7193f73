import pytest
from filling import filled


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        ("r = hypot(|)\n", "python", "3, 4)", "r = hypot(3, 4)\n"),
        ('print("Good |")\n', "python", 'day")', 'print("Good day")\n'),
        ("  auto b = Crate{|};\n", "cpp", "4, 5};", "  auto b = Crate{4, 5};\n"),
        ("f(|mbers[-1])\n", "python", "a)\ng(nu", "f(a)\ng(numbers[-1])\n"),
        ("def p():\n    send(4, |\n", "python", "5)", "def p():\n    send(4, 5)\n"),
        ("f(g(|)\n", "python", "1)", "f(g(1))\n"),
        ("<p>|</p>\n", "html", "<b>x</b></p>", "<p><b>x</b></p>\n"),
        ("A line |\n", "markdown", "of text)", "A line of text\n"),
    ],
)
def test_no_bracket_is_closed_twice(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want


def test_brackets_in_strings_and_comments_do_not_count() -> None:
    text = "f(|)\n"
    assert filled(text, "python", '")", ")"') == 'f(")", ")")\n'


def test_a_bracket_left_open_is_closed() -> None:
    assert filled("x = |\n", "python", "f(1, g(2)") == "x = f(1, g(2))\n"


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        (
            'import (\n\t"context|\n\t"fmt"\n\t"os"\n)\n',
            "go",
            '"\n\t"fmt"\n\t"os"',
            'import (\n\t"context"\n\t"fmt"\n\t"os"\n)\n',
        ),
        (
            "class A {\n  int f(int a|\n    return a;\n  }\n  int b;\n}\n",
            "java",
            ", int b) {\n    return a;\n  }\n",
            "class A {\n  int f(int a, int b) {\n    return a;\n  }\n  int b;\n}\n",
        ),
    ],
)
def test_what_the_line_leaves_open_is_the_fills_to_close(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        ("[a](|)\n", "markdown", "http://x)", "[a](http://x)\n"),
        ("**|**\n", "markdown", "bold**", "**bold**\n"),
        ("**|**\n", "markdown", "a** and **b", "**a** and **b**\n"),
        ("`|`\n", "markdown", "code`", "`code`\n"),
        ("*a* |*\n", "markdown", "*b*", "*a* *b*\n"),
        ("<p>{{ | }}</p>\n", "html", "a }}", "<p>{{ a }}</p>\n"),
    ],
)
def test_a_mark_of_prose_is_not_doubled(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want
