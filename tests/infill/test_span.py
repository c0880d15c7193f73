import pytest

from niello.infill.parse import parse
from niello.infill.span import find_span


@pytest.mark.parametrize(
    ("marked", "language", "kind"),
    [
        ("def f():\n    return |\n", "python", "line"),
        ("def f():\n    x = 1\n    |\n    return x\n", "python", "block"),
        ("def f():|\n", "python", "body"),
        ("function f() {|\n}\n", "javascript", "body"),
        ("f(a, |)\n", "python", "list"),
        ("x = [\n    1,\n    |\n]\n", "python", "list"),
        ('x = "a |"\n', "python", "string"),
        ("# a |\n", "python", "comment"),
        ("/* a | */\nint x;\n", "c", "comment"),
        ('x = f"a {b(|)}"\n', "python", "list"),
        ("int main() {\n\t|\n}\n", "c", "block"),
        ("fn f() { g(|) }\n", "rust", "list"),
        ("a:\n  - |\n", "yaml", "line"),
        ("some | text\n", "unknown", "line"),
    ],
)
def test_a_cursor_has_the_kind_of_its_place(
    marked: str, language: str, kind: str
) -> None:
    cursor = marked.index("|")
    span = find_span(parse(marked.replace("|", "", 1), language), cursor)
    assert span.kind == kind
    assert span.end == cursor
    assert marked[: span.start].endswith("\n") or span.start == 0


def test_a_span_never_reaches_what_follows_in_broken_code() -> None:
    text = 'function a() {\n  const s = "abc;\n}\nfunction b() {\n  \n}\n'
    cursor = text.index("  \n}") + 2
    span = find_span(parse(text, "javascript"), cursor)
    assert (span.start, span.end) == (cursor - 2, cursor)


def test_a_blank_line_knows_the_margin_of_its_block() -> None:
    text = "def f():\n    for x in y:\n\n    return x\n"
    span = find_span(parse(text, "python"), text.index("\n\n") + 1)
    assert span.indent == "        "


def test_a_place_between_cr_and_lf_is_before_both() -> None:
    assert find_span(parse("x = 1\r\n", "python"), 6).end == 5


def test_a_cursor_outside_of_the_text_is_moved_into_it() -> None:
    assert find_span(parse("x", "python"), 99).end == 1
    assert find_span(parse("", "python"), -3).end == 0


def test_a_very_long_line_gives_a_part_that_stays_while_typing() -> None:
    text = "x = [" + "1, " * 3000
    first = find_span(parse(text, "python"), 5000)
    second = find_span(parse(text, "python"), 5001)
    assert first.start == second.start
    assert 5000 - first.start < 2000
