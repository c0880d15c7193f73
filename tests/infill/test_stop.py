import pytest

from niello.infill.parse import parse
from niello.infill.span import find_span
from niello.infill.stop import stop_rule


def stopped(marked: str, language: str, written: str) -> str | None:
    """Return what is written when the rule says the span is full."""
    cursor = marked.index("|")
    parsed = parse(marked.replace("|", "", 1), language)
    span = find_span(parsed, cursor)
    given = parsed.text[span.start : cursor]
    end = stop_rule(parsed, span, len(given))(given + written)
    return None if end is None else written[: end - len(given)]


@pytest.mark.parametrize(
    ("marked", "language", "written", "kept"),
    [
        ("def f():\n    return |\n", "python", "x\n\ndef g():\n", "x"),
        ("def f():\n    |\n", "python", "x = 1\n    y = 2\ng()\n", "x = 1\n    y = 2"),
        ("def f():|\n", "python", "\n    return 1\n\ng()\n", "\n    return 1"),
        ("f(|)\n", "python", "g(1), [2])\nx", "g(1), [2]"),
        ('print("a |")\n', "python", 'b\\"c")', 'b\\"c'),
        ("# a |\nx\n", "python", "b\nc", "b"),
        ("/* a | */\n", "c", "b */ x", "b "),
        ("int f() {\n\t|\n}\n", "c", "g();\n}\nint h", "g();\n"),
        ("int x = |;\n", "c", "1 + 2;\n", "1 + 2"),
        ("x = 1\n|\ny = 2\nz = 3\n", "python", "a()\ny = 2\nz = 3\n", "a()"),
        ("def m\n  |\nend\n", "ruby", "puts 1\nend\n\ndef n", "puts 1"),
        ("<p>|</p>\n", "html", "<b>x</b></p><p>", "<b>x</b>"),
        ("case $a in\nb) |\nesac\n", "bash", "if c; then d; fi)\n", "if c; then d; fi"),
        ('x="$(f |)"\n', "bash", '"$(g "$y")")"\n', '"$(g "$y")"'),
        ("`a ${b(|)}`\n", "javascript", "c)} d`", "c"),
    ],
)
def test_a_text_that_leaves_its_construct_is_stopped(
    marked: str, language: str, written: str, kept: str
) -> None:
    assert stopped(marked, language, written) == kept


@pytest.mark.parametrize(
    ("marked", "language", "written"),
    [
        ("x = |\n", "python", "f(\n    1,\n    2,\n)"),
        ("x = |\n", "python", '"""a\n\nb'),
        ("def f():\n    |\n    return x\n", "python", "if a:\n        b()\n\n    c()"),
        ("def f():\n    |\n", "python", '"""One.\n\nTwo ) ] }\n"""\n    return 1'),
        ("const x = |\n", "javascript", "a\n  .b()\n  .c()"),
        ("const x = |\n", "javascript", "`}\n)${y}`"),
        ("if (a) |\n", "c", "{\n\tb();\n} else {\n\tc();\n}"),
        ("class A:\n    |\n", "python", "@property\n    def a(self):\n        pass"),
        ("|\n", "python", "x = 1\n\n\ndef f():\n    pass"),
        ("f(|\n", "python", "a, (b))"),
        ("puts |\n", "ruby", "[1].map do |x|\n  x\nend"),
        ("case $a in\n|\nesac\n", "bash", "    b) c;;\n    d) e;;"),
        ("|\n", "bash", 'case "$a" in\n  *" -S "*) b;;\nesac'),
    ],
)
def test_a_text_that_may_still_be_right_goes_on(
    marked: str, language: str, written: str
) -> None:
    for length in range(len(written) + 1):
        assert stopped(marked, language, written[:length]) is None


def test_a_text_with_carriage_returns_is_stopped_where_it_is_full() -> None:
    written = "a\r\n  b\r\nend\r\n"
    assert stopped("def f\n  |\nend\n", "ruby", written) == "a\r\n  b"
    assert stopped("f(|)\n", "python", "1,\r\n2)\r\n") == "1,\r\n2"
