import pytest
from filling import filled

from niello.infill.echo import drop_suffix_echo


@pytest.mark.parametrize(
    ("written", "suffix", "kept"),
    [
        ("a = 1\nb = 2\nc = 3", "\nb = 2\nc = 3\n", "a = 1"),
        ("a = 1\nb = 2\nc =", "\nb = 2\nc = 3\n", "a = 1"),
        ("glass lid closed", "lid closed\n", "glass "),
        ("twice(a), b", ", b)", "twice(a)"),
        ("x\n\n    next_line()", "\n\n    next_line()\n", "x"),
    ],
)
def test_a_tail_that_follows_anyway_goes(written: str, suffix: str, kept: str) -> None:
    assert drop_suffix_echo(written, suffix) == kept


@pytest.mark.parametrize(
    ("written", "suffix"),
    [
        ("step()", "\nstep()\n"),  # All there is would go.
        ("if a:\n    return 1", "\nreturn 1\n"),  # Another margin.
        ("data", "a + 1\n"),  # One letter is chance.
        ("f(\n  1\n)", "\n)\n"),
    ],
)
def test_what_only_looks_like_an_echo_stays(written: str, suffix: str) -> None:
    assert drop_suffix_echo(written, suffix) == written


def test_the_bar_at_the_end_of_a_row_is_not_doubled() -> None:
    assert drop_suffix_echo("2 |", " |\n| 3 | 4 |\n") == "2"
    assert drop_suffix_echo(", b|", "|\nend\n") == ", b"
    assert drop_suffix_echo("a || b", " |\n") == "a || b"


def test_a_closing_angle_bracket_of_the_fill_stays() -> None:
    assert drop_suffix_echo("<C>\nclass A", ">\nclass A\n") == "<C>"


def test_an_escaped_quote_that_follows_goes() -> None:
    assert drop_suffix_echo('$(f)\\"', '\\""\nend\n', cut=True) == "$(f)"


def test_a_line_copied_up_to_its_first_quote_goes() -> None:
    kept = drop_suffix_echo("$(f)\nif [ ", '")\nif [ "$x" ]; then\n', cut=True)
    assert kept == "$(f)"


def test_a_closing_bracket_inside_the_fill_stays() -> None:
    assert filled("r = f(|, b)\n", "python", "twice(a), b)") == "r = f(twice(a), b)\n"


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        ('echo "${|}"\n', "bash", 'HOME}"', 'echo "${HOME}"\n'),
        ('echo "${|}"\n', "bash", "HOME}", 'echo "${HOME}"\n'),
        ('val s = "${|}"\n', "kotlin", 'a}"', 'val s = "${a}"\n'),
        ('var s = $"{|}";\n', "csharp", 'a}";', 'var s = $"{a}";\n'),
        ('let s = "\\(|)"\n', "swift", 'a)"', 'let s = "\\(a)"\n'),
    ],
)
def test_the_bracket_of_code_in_a_string_is_not_doubled(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want


@pytest.mark.parametrize(
    ("marked", "language", "written"),
    [
        ("a = 1\n|\nb = compute(a)\n", "python", "b = compute(a)"),
        ("def f():\n    a = 1|\n    return a + 2\n", "python", "\n    return a + 2"),
        ("f() {\n  a\n  |\n  return 1\n}\n", "bash", "return 1\n}"),
        ("{\n\ta := 1\n\t|\n\treturn a\n}\n", "go", "\treturn a\n}"),
    ],
)
def test_nothing_but_a_copy_of_the_next_lines_is_not_shown(
    marked: str, language: str, written: str
) -> None:
    assert filled(marked, language, written) is None


def test_the_next_line_at_another_margin_is_no_copy() -> None:
    text = "def f(a):\n    if a:\n        |\n    return None\n"
    want = text.replace("|", "return None")
    assert filled(text, "python", "return None") == want


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        ("if |:\n    pass\n", "python", "x > 1:", "if x > 1:\n    pass\n"),
        (
            "for x in |:\n    pass\n",
            "python",
            "y:\n    f(x)",
            "for x in y:\n    pass\n",
        ),
        ("x = a[|:]\n", "python", "1:", "x = a[1::]\n"),
    ],
)
def test_a_short_end_of_the_line_goes_if_the_text_parses_worse_with_two(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want


def test_a_copy_of_the_next_lines_that_goes_on_otherwise_is_not_shown() -> None:
    text = "a = 1\n|\nb = two()\nc = three()\n"
    assert filled(text, "python", "b = two()\nc = three()\nd = four()") is None
