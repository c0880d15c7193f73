"""Rewrites with metavariables and holes."""

from niello.batch.template import bind, parse_template


def bound(rewrite: str, captures: dict[str, str], indent: str = "") -> str:
    template = bind(parse_template(rewrite), captures, indent, "\n")
    return template.with_fills({})


def test_a_rewrite_is_cut_at_its_holes() -> None:
    template = parse_template("f(⟦a⟧, ⟦⟧)")
    assert template.pieces == ("f(", ", ", ")")
    assert template.holes == ("a", "")
    assert template.with_fills({0: "1", 1: "2"}) == "f(1, 2)"


def test_holes_of_one_name_are_one_hole() -> None:
    template = parse_template("⟦a⟧ ⟦b⟧ ⟦a⟧ ⟦⟧ ⟦⟧")
    assert [template.same_hole(n) for n in range(5)] == [0, 1, 0, 3, 4]


def test_metavariables_become_text_of_the_file() -> None:
    assert bound("g($URL)", {"URL": "a[0]"}) == "g(a[0])"


def test_a_word_that_was_not_captured_is_code() -> None:
    assert bound("$n = $URL", {"URL": "1"}) == "$n = 1"


def test_an_empty_list_takes_its_comma_along() -> None:
    assert bound("f($$$A, t=1)", {"A": ""}) == "f(t=1)"


def test_a_list_with_a_comma_at_its_end_gets_no_second_one() -> None:
    assert bound("f($$$A, t=1)", {"A": "a,\n  b,\n"}) == "f(a,\n  b, t=1)"


def test_the_templates_own_lines_are_indented_and_captured_ones_are_not() -> None:
    text = bound("a\n$BODY", {"BODY": "x\n    y"}, indent="    ")
    assert text == "a\n    x\n    y"


def test_captured_text_is_not_read_as_a_template() -> None:
    assert bound("f($A, $B)", {"A": "$B", "B": "$A"}) == "f($B, $A)"
