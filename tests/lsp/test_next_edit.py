"""Following a change: which tokens fell, which places they are, what is offered."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from niello.bench.changes import KINDS, apply, cases_of
from niello.bench.next_edit import judge, measure
from niello.infill.canvas import Canvas, Draws, Fill, StopFlag, never
from niello.infill.parse import parse
from niello.infill.propose import Options
from niello.lsp.edits import Edit
from niello.lsp.next_edit import Scorer, carry_on, find_falls
from niello.lsp.places import change_between
from niello.lsp.settings import NextEdit


class Token(NamedTuple):
    start: int
    end: int
    log_probability: float


class Knows:
    """Finds a word likely if it stood in the text before, and fills in another word."""

    def __init__(self, fills: str, confidence: float = -0.1) -> None:
        self.fills = fills
        self.confidence = confidence

    def score(self, text: str, start: int, stop: StopFlag) -> Sequence[Token]:
        words = [*re.finditer(r"\w+|\W", text)]
        return [
            Token(
                each.start(),
                each.end(),
                -0.1 if re.search(rf"\b{each[0]}\b", text[: each.start()]) else -9.0,
            )
            if each[0].isalnum()
            else Token(each.start(), each.end(), -0.1)
            for each in words
            if each.start() >= start
        ]

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        return [
            [Fill(self.says(each.context.prefix), self.confidence, 1, "end")]
            for each in canvases
        ]

    def says(self, prefix: str) -> str:
        return self.fills


class Follows(Knows):
    """Fills one word in where the text in front has a sign, else another."""

    def __init__(self, sign: str, then: str, otherwise: str) -> None:
        super().__init__(then)
        self.sign, self.otherwise = sign, otherwise

    def says(self, prefix: str) -> str:
        return self.fills if self.sign in prefix else self.otherwise


BEFORE = "def f(text):\n    a = 1\n    return len(text)\n"
AFTER = BEFORE.replace("f(text)", "f(body)")


def followed(scorer: Scorer, before: str = BEFORE, after: str = AFTER) -> str:
    change = change_between(before, after)
    assert change is not None
    parsed = parse(after, "python")
    edits = carry_on(parsed, change, scorer, NextEdit(), Options(), never)
    for edit in reversed(edits):
        after = after[: edit.start] + edit.text + after[edit.end :]
    return after


def test_a_change_is_the_smallest_that_makes_one_text_of_the_other() -> None:
    change = change_between("a = old\n", "a = newer\n")
    assert change is not None
    assert (change.start, change.old_end, change.new_end) == (4, 7, 9)
    assert change_between("a", "a") is None


def test_the_token_that_the_change_made_unlikely_is_found() -> None:
    change = change_between(BEFORE, AFTER)
    assert change is not None
    (fall,) = find_falls(change, Knows(""), NextEdit(), never)
    assert AFTER[fall.start : fall.end] == "text"


def test_a_rename_is_carried_on() -> None:
    assert followed(Knows("body")) == AFTER.replace("len(text)", "len(body)")


def test_a_fill_that_says_the_same_is_no_edit() -> None:
    assert followed(Knows("text")) == AFTER


def test_a_fill_without_confidence_is_not_offered() -> None:
    assert followed(Knows("body", confidence=-3.0)) == AFTER


def test_every_place_of_the_same_text_is_carried_on() -> None:
    before = BEFORE.replace("a = 1", "a = text")
    after = before.replace("f(text)", "f(body)")
    assert followed(Knows("body"), before, after) == before.replace("text", "body")


def test_a_name_of_a_function_s_own_is_left_alone_elsewhere() -> None:
    other = "\n\ndef g(text):\n    return text\n"
    done = AFTER.replace("len(text)", "len(body)")
    assert followed(Knows("body"), BEFORE + other, AFTER + other) == done + other


def test_an_attribute_is_carried_on_in_other_functions_too() -> None:
    before = "class A:\n    def f(self):\n        self.old = 1\n\n"
    before += "    def g(self, old):\n        return self.old + old\n"
    after = before.replace("self.old = 1", "self.new = 1")
    wanted = before.replace("self.old", "self.new")
    assert followed(Knows("new"), before, after) == wanted


CALLED = "def f(a, b):\n    return a\n\n\nx = f(1, 2)\n"


def test_arguments_follow_the_parameters() -> None:
    after = CALLED.replace("f(a, b)", "f(a)")
    follows = Follows("(a, b)", "1, 2", "1")
    assert followed(follows, CALLED, after) == after.replace("f(1, 2)", "f(1)")


def test_other_calls_do_not_follow_a_call() -> None:
    before = "def g():\n    f(1, 2)\n    f(3, 4)\n"
    after = before.replace("1, 2", "1")
    assert followed(Follows("(1, 2)", "3, 4", "3"), before, after) == after


def test_what_the_model_would_have_written_anyway_does_not_follow() -> None:
    after = CALLED.replace("f(a, b)", "f(a)")
    assert followed(Knows("1"), CALLED, after) == after


SOURCE = """\
def total(prices, discount):
    amount = sum(prices)
    rate = 1 - discount
    return amount * rate


print(total([1, 2], 0.5))
"""


def test_a_case_of_every_kind_is_made_of_real_code() -> None:
    cases = {case.kind: case for case in cases_of(SOURCE)}
    assert set(cases) == set(KINDS)
    finished = {
        kind: apply(case.change.after, case.places) for kind, case in cases.items()
    }
    assert finished["added"] == SOURCE
    assert finished["reordered"] == SOURCE.replace(
        "prices, discount):", "discount, prices):"
    ).replace("[1, 2], 0.5", "0.5, [1, 2]")
    assert finished["removed"] in (
        SOURCE.replace("prices, discount", "discount").replace("[1, 2], ", ""),
        SOURCE.replace("prices, discount", "prices").replace(", 0.5", ""),
    )


def test_an_edit_is_right_if_its_place_reads_as_it_should() -> None:
    (case,) = (each for each in cases_of(SOURCE) if each.kind == "reordered")
    (place,) = case.places
    loose = place._replace(text=place.text.replace(", ", ","))
    inside = Edit(place.start, place.start + len("[1, 2]"), "0.5")
    outside = Edit(place.end, place.end + 1, ")")
    assert judge(case, [place]) == judge(case, [loose]) == (1, 1)
    assert judge(case, [inside]) == judge(case, [outside]) == judge(case, []) == (0, 0)


def test_the_measurement_counts_edits_and_places() -> None:
    source = "def f(text):\n    a = text\n    b = 2\n    return len(text) + b\n"
    cases = [each for each in cases_of(source) if each.kind == "renamed"]
    found = measure("renamed", cases, Knows("content"))
    assert (found.precision, found.recall, found.places) == (1.0, 1.0, 2)
    assert measure("renamed", cases, Knows("wrong")).edits == 0
