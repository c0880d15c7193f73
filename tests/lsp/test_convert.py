"""Positions against a slow, obvious model of the protocol's text."""

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from niello.lsp.convert import (
    Encoding,
    Lines,
    Place,
    to_column,
    to_offset,
    to_place,
    to_units,
)

TEXT = st.text(st.sampled_from("ab\r\n\f\x85\u2028é漢🛰"), max_size=30)
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)


def plain_starts(text: str) -> list[int]:
    return [0, *(each.end() for each in re.finditer("\r\n|\r|\n", text))]


def starts(lines: Lines) -> list[int]:
    return [lines.start(each) for each in range(len(lines))]


@given(TEXT)
def test_a_line_ends_at_the_three_line_ends_only(text: str) -> None:
    assert starts(Lines(text)) == plain_starts(text)


@given(TEXT, st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), TEXT)))
def test_lines_stay_right_under_edits(
    text: str, edits: list[tuple[int, int, str]]
) -> None:
    lines = Lines(text)
    for a, b, put in edits:
        start, end = sorted((a % (len(text) + 1), b % (len(text) + 1)))
        new = text[:start] + put + text[end:]
        lines.replaced(start, end, text, new)
        text = new
        assert starts(lines) == plain_starts(text)
        for offset in range(len(text) + 1):
            line = lines.line_at(offset)
            assert lines.start(line) <= offset
            assert line + 1 == len(lines) or offset < lines.start(line + 1)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXT)
def test_an_offset_survives_the_way_out_and_back(encoding: Encoding, text: str) -> None:
    lines = Lines(text)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] == "\r\n":
            continue
        line, column = to_place(text, lines, offset)
        start = lines.start(line)
        units = to_units(text[start : start + column], encoding)
        assert to_offset(text, lines, line, units, encoding) == offset


def test_columns_count_units_of_the_encoding() -> None:
    line = 'x = "🛰🛰" + '
    assert to_column(line, 17, "utf-8") == 11
    assert to_column(line, 13, "utf-16") == 11
    assert to_column(line, 11, "utf-32") == 11


def test_a_column_inside_a_character_is_the_one_in_front() -> None:
    assert to_column("🛰b", 1, "utf-16") == 0
    assert to_column("🛰b", 3, "utf-8") == 0


def test_half_a_surrogate_pair_counts_one_unit() -> None:
    assert to_column("\ud83db", 1, "utf-16") == 1
    assert to_units("\ud83db", "utf-16") == 2


@pytest.mark.parametrize(("line", "character"), [(1, 0), (2, 7), (4_000_000_000, 0)])
def test_positions_beyond_the_end_are_clamped(line: int, character: int) -> None:
    assert to_offset("a = 1\n", Lines("a = 1\n"), line, character, "utf-16") == 6


def test_a_column_beyond_the_line_is_its_end() -> None:
    assert to_offset("ab\r\ncd", Lines("ab\r\ncd"), 0, 99, "utf-16") == 2


def test_an_offset_inside_a_line_end_is_the_end_of_the_line() -> None:
    assert to_place("ab\r\ncd", Lines("ab\r\ncd"), 3) == Place(0, 2)
