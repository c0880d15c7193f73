"""What the gates let through."""

import pytest

from niello.batch.gates import judge
from niello.batch.recipe import HoleRule, Pattern, Step
from niello.batch.targets import Target
from niello.batch.template import WHOLE
from niello.infill.parse import parse


def gate(text: str, old: str, new: str, rule: HoleRule | None = None) -> str:
    start = text.index(old)
    target = Target(start, start + len(old), WHOLE)
    step = Step(Pattern("x"), holes={"": rule or HoleRule()})
    return judge(parse(text, "python"), target, step, {0: new}).gate


@pytest.mark.parametrize(
    ("new", "name"),
    [
        ("3", ""),
        ("", "empty"),
        ("2", "unchanged"),
        ("3)", "parse"),
        ("[1", "parse"),
        ("3 # f", "parse"),
        ("'''", "parse"),
    ],
)
def test_a_value_in_a_call_passes_or_names_its_gate(new: str, name: str) -> None:
    assert gate("a = f(1, 2, g(4))\nb = '''x'''\n", "2", new) == name


def test_a_text_that_changes_how_its_neighbour_is_read_is_refused() -> None:
    assert gate("a = 2 * b\n", "2", "1 + c") == "outside"
    assert gate("a = 2\n", "2", "1 + c") == ""
    assert gate("a = 2; b = 3\n", "2", "1 #") == "outside"


def test_a_function_body_may_not_swallow_the_function_below() -> None:
    text = "def f():\n    return 2\n\n\ndef g():\n    pass\n"
    assert gate(text, "return 2", "return 3") == ""
    assert gate(text, "return 2", "if a:\n        pass\n\n\nclass C:\n    x = 1") == ""
    assert gate(text, "return 2", "return (\n") == "parse"


def test_a_recipes_form_is_held_for_the_whole_text() -> None:
    rule = HoleRule(match=r"\d+")
    assert gate("a = 2\n", "2", "30", rule) == ""
    assert gate("a = 2\n", "2", "30 + 1", rule) == "match"


def test_a_broken_file_may_not_become_more_broken_but_may_be_mended() -> None:
    assert gate("a = ⟦⟧\nb = (\n", "⟦⟧", "1") == ""
    assert gate("a = 1\nb = (\n", "1", "(") == "parse"
