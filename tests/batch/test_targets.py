"""Where a step writes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from niello.batch.holes import draw_hole
from niello.batch.pattern import find_pattern
from niello.batch.recipe import (
    DEFAULT_MARKERS,
    Find,
    Marker,
    Pattern,
    Place,
    Places,
    Query,
    Select,
    Step,
)
from niello.batch.targets import Target, find_targets, offset_of, place_of
from niello.infill.errors import SettingsError
from niello.infill.parse import parse


def targets(find: Find, text: str, rewrite: str = "", **step: str) -> list[Target]:
    parsed = parse(text, "python")
    return find_targets(Step(find, rewrite, **step), Path("a.py"), parsed)


def texts(find: Find, text: str, **step: str) -> list[str]:
    return [text[t.start : t.end] for t in targets(find, text, **step)]


def test_a_query_names_what_to_replace() -> None:
    query = Query("(assignment left: (_) @name right: (_) @fill)")
    assert texts(query, "é = '🎙️'\nn = 2\n") == ["'🎙️'", "2"]
    assert texts(query, "a = 1\nb = 2\n", name="^b$") == ["2"]
    assert texts(query, "a = 1\nb = 2\n", unless="1") == ["2"]


def test_a_text_object_is_named_by_what_it_is_part_of() -> None:
    text = "class C:\n    def f(self):\n        return 1\n\n    def g(self): pass\n"
    assert texts(Select("function.inner"), text, name="^f$") == ["return 1"]
    assert [t.name for t in targets(Select("class.inner"), text)] == ["C"]


def test_captures_of_a_query_are_metavariables() -> None:
    query = Query("(assignment left: (_) @left right: (_) @fill)")
    [target] = targets(query, "a = 1", rewrite="f($fill, ⟦⟧, $left)")
    assert target.template.pieces == ("f(1, ", ", a)")


def test_a_pattern_counts_code_points() -> None:
    assert texts(Pattern("f($A)"), "x = '🎙️'; f('é')\n") == ["f('é')"]


def test_of_targets_inside_each_other_the_outer_one_is_kept() -> None:
    assert texts(Pattern("f($A)"), "f(f(1))\nf(2)\n") == ["f(f(1))", "f(2)"]


def test_a_marker_in_a_comment_stands_for_the_comment_and_is_a_hint() -> None:
    text = "a = ⟦⟧\n# TODO: fill in the sum of a and 1\n"
    first, second = targets(Marker(DEFAULT_MARKERS), text)
    assert text[first.start : first.end] == "⟦⟧"
    assert second.hint == "# TODO: fill in the sum of a and 1"


def test_a_place_counts_from_one_and_leaves_its_end_out() -> None:
    places = Places((Place(Path("a.py"), (2, 5), (2, 6)),))
    assert texts(places, "a = 1\nb = 2\n") == ["2"]


@pytest.mark.parametrize("place", [(0, 1), (4, 1), (1, 0), (1, 7)])
def test_a_place_that_is_not_in_the_file_is_an_error(place: tuple[int, int]) -> None:
    with pytest.raises(SettingsError, match="--at"):
        offset_of("a = 1\nb = 2\n", *place)


@given(st.text("ab\r\n\x0c\u2028é🎙"), st.data())
def test_places_and_offsets_are_each_others_reverse(
    text: str, data: st.DataObject
) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n":
        return  # Between the two is no place.
    assert offset_of(text, *place_of(text, offset)) == offset


def test_targets_of_one_list_share_all_but_the_beginning_of_its_lines() -> None:
    text = "import os\n\n\ndef f(a, b):\n    return a\n"
    parsed = parse(text, "python")
    query = "(parameters (identifier) @fill)"
    step = Step(Query(query), "$fill: ⟦⟧", "python")
    first, second = (
        draw_hole(parsed, target, {}, 0, 8).canvas
        for target in find_targets(step, Path("a.py"), parsed)
    )
    assert first.context.anchor == second.context.anchor
    assert first.context.suffix == second.context.suffix == "    return a\n"
    shared = "import os\n\n\n# def f(a, b):\n"
    assert first.context.prefix + first.given == shared + "def f(a: "
    assert second.context.prefix + second.given == shared + "def f(a, b: "


def test_a_target_that_is_alone_in_a_list_sees_what_follows_it() -> None:
    parsed = parse("x = f(1) + 2\n", "python")
    step = Step(Query("(argument_list (integer) @fill)"), "", "python")
    (target,) = find_targets(step, Path("a.py"), parsed)
    assert draw_hole(parsed, target, {}, 0, 8).canvas.context.suffix == ") + 2\n"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("go", "package p\nvar N int = 1\n"),
        ("go", "package p\nconst (\n\tN = 1\n)\n"),
        ("rust", "const N: i32 = 1;\n"),
        ("csharp", "class A { int N = 1; }\n"),
        ("csharp", "class A { int N { get; } = 1; }\n"),
        ("kotlin", "val N: Int = 1\n"),
        ("swift", "let N: Int = 1\n"),
        ("typescript", "class A { private N: number = 1; }\n"),
        ("typescript", "enum E { N = 1 }\n"),
        ("javascript", "class A { N = 1; }\n"),
        ("php", "<?php class A { const N = 1; }\n"),
        ("c", "char *N = 1;\n"),
        ("cpp", "class A { int N = 1; };\n"),
        ("lua", "local N = 1\n"),
        ("toml", '"N" = 1\n'),
        ("css", "a { N: 1; }\n"),
        ("yaml", "{N: 1}\n"),
    ],
)
def test_the_value_of_a_declaration_is_found(language: str, text: str) -> None:
    step = Step(Select("assignment.rhs"), name="^N$")
    found = find_targets(step, Path("a"), parse(text, language))
    assert [text[each.start : each.end] for each in found] == ["1"]


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("function f() {\n  g();\n  h();\n}\n", "g();\n  h();"),
        ("function f() {}\n", ""),
        ("const f = (a) => a + 1;\n", "a + 1"),
    ],
)
def test_the_inner_part_of_a_body_is_between_its_braces(text: str, inner: str) -> None:
    step = Step(Select("function.inner"))
    found = find_targets(step, Path("a"), parse(text, "javascript"))
    assert [text[each.start : each.end] for each in found] == [inner]


def test_braces_that_make_a_value_are_part_of_it() -> None:
    text = "def f\n  { a: 1 }\nend\n"
    (found,) = find_targets(
        Step(Select("function.inner")), Path("a"), parse(text, "ruby")
    )
    assert text[found.start : found.end] == "{ a: 1 }"


@pytest.mark.parametrize(
    ("language", "text", "pattern", "found"),
    [
        ("c", "void f() { x = g(1); }\n", "g($A)", ["g(1)"]),
        ("c", "void f() { a->g(1); }\n", "a->g($$$A)", ["a->g(1)"]),
        ("c", "void f() { x = sizeof(y); }\n", "sizeof($A)", ["sizeof(y)"]),
        ("c", "void f() { g(x); sizeof(g(y)); }\n", "sizeof(g($A))", ["sizeof(g(y))"]),
        ("cpp", "void f() { std::move(x); }\n", "std::move($A)", ["std::move(x)"]),
        ("go", "package p\nfunc f() { fmt.Println(1) }\n", "fmt.Println($$$A)", None),
        ("go", "package p\nfunc f() { g(1) + h(2) }\n", "g($A) + h($B)", None),
    ],
)
def test_a_pattern_of_a_call_finds_calls(
    language: str, text: str, pattern: str, found: list[str] | None
) -> None:
    want = found or [text[text.index("{ ") + 2 : text.index(" }")]]
    matches = find_pattern(text, language, pattern)
    assert [text[each.start : each.end] for each in matches] == want
