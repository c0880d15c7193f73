import pytest
from filling import Stub, filled, propose_at

from niello.infill.parse import parse
from niello.infill.propose import Options, propose_in
from niello.infill.span import find_span


def test_a_text_that_parses_worse_is_cut_back_to_a_line() -> None:
    text = "def f(x):\n    |\n\n\ndef g():\n    pass\n"
    (candidate,) = propose_at(text, "python", "x += 1\n    return x +* 2")
    assert candidate.text == "x += 1"
    assert "cut" in candidate.verdict


def test_the_part_that_does_not_parse_is_filled_once_more() -> None:
    text = "def f(x):\n    return |\n"
    (candidate,) = propose_at(text, "python", "x +* 2", "x * 2")
    assert candidate.text.endswith("2")
    assert "refilled" in candidate.verdict
    assert parse(text.replace("|", candidate.text), "python").broken == []


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        ("case $a in\n|\nesac\n", "bash", "b) c;;)", "case $a in\nb) c;;\nesac\n"),
        ("template |\nT f();\n", "cpp", "<class T>}", "template <class T>\nT f();\n"),
    ],
)
def test_a_bracket_too_many_at_the_end_goes(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want


def test_a_text_that_cannot_be_repaired_is_not_shown() -> None:
    assert filled("x = |\n", "python", ")(") is None


@pytest.mark.parametrize(
    ("marked", "language"),
    [
        ("x = |\n", "lua"),
        ("fn f() { let x = |; }\n", "rust"),
        ("class A { String x = |; }\n", "java"),
        ("class A { string x = |; }\n", "csharp"),
    ],
)
def test_a_string_that_breaks_off_is_not_shown(marked: str, language: str) -> None:
    assert filled(marked, language, '"hel') is None
    assert filled(marked, language, '"hello"') is not None


def test_a_comment_may_not_swallow_what_follows() -> None:
    text = "f();\n|\ng(); /* note */\n"
    assert filled(text, "javascript", "/* a") is None


def test_broken_code_elsewhere_does_not_matter() -> None:
    text = "def broken(:\n    pass\n\n\ndef f():\n    return |\n"
    want = "def broken(:\n    pass\n\n\ndef f():\n    return 1\n"
    assert filled(text, "python", "1") == want


def test_a_changed_text_names_the_rules_that_changed_it() -> None:
    (candidate,) = propose_at("r = f(|)\n", "python", "f(1)<|endoftext|>")
    assert candidate.verdict == ("control",)
    (candidate,) = propose_at("r = f(|)\n", "python", "1)")
    assert candidate.verdict == ("end",)


def test_equal_candidates_are_given_once() -> None:
    parsed = parse("x = \n", "python")
    span = find_span(parsed, 4)
    options = Options(draws=Options().draws._replace(n=3))
    found = propose_in(parsed, span, Stub("1"), options, n_given=4)
    assert [candidate.text for candidate in found] == ["1"]


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        ("x = |\n", "python", " 1", "x = 1\n"),
        ("A quick |\n", "markdown", " fox", "A quick fox\n"),
        ("x = a|\n", "python", " + 1", "x = a + 1\n"),
        ("foo.|();\n", "javascript", " bar", "foo.bar();\n"),
        ("# So.|\n", "python", " And", "# So. And\n"),
        ('x = "a |"\n', "python", " b", 'x = "a  b"\n'),
        ("def f():\n    |\n", "python", "\n    return 1", "def f():\n    return 1\n"),
    ],
)
def test_a_space_that_is_typed_is_not_written_again(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want


@pytest.mark.parametrize(
    ("marked", "language", "written", "want"),
    [
        ('{"a": |}\n', "json", "1,", '{"a": 1}\n'),
        ("[\n  1,\n  |\n]\n", "json", "2,", "[\n  1,\n  2\n]\n"),
        ('{\n  "a": 1,\n  |\n}\n', "json", '"b": 2,\n}', '{\n  "a": 1,\n  "b": 2\n}\n'),
        ("[\n  1,\n  |\n]\n", "python", "2,", "[\n  1,\n  2,\n]\n"),
        ('{\n  |\n  "b": 2\n}\n', "json", '"a": 1,', '{\n  "a": 1,\n  "b": 2\n}\n'),
    ],
)
def test_no_comma_is_left_where_the_language_has_none(
    marked: str, language: str, written: str, want: str
) -> None:
    assert filled(marked, language, written) == want


def test_strings_in_the_code_of_strings_have_an_end() -> None:
    text = "`${" * 3000
    assert filled(f"x = {text}|\n", "javascript", "a") is not None
    assert filled("f(|);\n", "javascript", text) is None
