"""Following a change: which tokens fell, which places they are, what is offered."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from niello.bench.next_edit import cases_of, measure, places_of
from niello.infill.canvas import Canvas, Draws, Fill, StopFlag, never
from niello.infill.parse import parse
from niello.infill.propose import Options
from niello.lsp.next_edit import Scorer, carry_on, change_between, find_falls
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

    def score(self, text: str, stop: StopFlag) -> Sequence[Token]:
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
        ]

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        return [[Fill(self.fills, self.confidence, 1, "end")] for _ in canvases]


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


def test_the_measurement_knows_which_edits_are_right() -> None:
    source = "def f(text):\n    a = text\n    b = 2\n    return len(text) + b\n"
    (case,) = cases_of(source)
    assert len(places_of(case)) == 2
    found = measure([case], Knows("content"))
    assert (found.precision, found.recall) == (1.0, 1.0)
    assert measure([case], Knows("wrong")).right == 0
