"""Memory of what was shown: typing through it, editors' own brackets, strangers."""

import asyncio

import pytest
from lsprotocol import types as lsp_types

from niello.infill.propose import Candidate
from niello.infill.span import Span
from niello.lsp.convert import Lines
from niello.lsp.documents import Document
from niello.lsp.offers import Ahead, Insert, Offer, insert_of, typed_into
from niello.lsp.spot import find_spot, line_text


def offer(marked: str, *texts: str, replaced: int = 0) -> Offer:
    cursor = marked.index("|")
    inserts = tuple(Insert(each, replaced, -0.1) for each in texts)
    return Offer(marked.replace("|", ""), cursor, 1, inserts)


def rest(given: Offer, marked: str) -> list[tuple[str, int]]:
    found = typed_into(given, marked.replace("|", ""), marked.index("|"))
    return [each[:2] for each in found.inserts] if found else []


def test_what_was_typed_is_cut_off() -> None:
    assert rest(
        offer("return |\n", "a + b"), "return a +| \n".replace(" \n", "\n")
    ) == [(" b", 0)]


def test_the_same_place_gives_the_same_offer() -> None:
    assert rest(offer("return |\n", "a"), "return |\n") == [("a", 0)]


@pytest.mark.parametrize(
    "marked",
    ["return x|\n", "return a| b\n", "Return a|\n", "retur|\n", "return a|\n\n"],
)
def test_anything_else_is_not_recalled(marked: str) -> None:
    assert rest(offer("return |\n", "a + b"), marked) == []


def test_a_text_that_was_typed_whole_is_over() -> None:
    assert rest(offer("return |\n", "ab"), "return ab|\n") == []


def test_only_the_candidates_that_go_on_are_left() -> None:
    assert rest(offer("return |\n", "ab", "cd"), "return c|\n") == [("d", 0)]


def test_a_bracket_the_editor_closed_is_replaced() -> None:
    assert rest(offer("x = |\n", "f(a)"), "x = f(|)\n") == [("a)", 1)]


def test_a_line_end_is_typed_like_any_text() -> None:
    assert rest(offer("if a:|\n", "\n    b()\n    c()"), "if a:\n    |\n") == [
        ("b()\n    c()", 0)
    ]


@pytest.mark.parametrize(
    ("typed", "fits"),
    [("", True), ("f", True), ("f()", True), ("f(a)", True), ("g", False)],
)
async def test_what_is_drawn_ahead_goes_on_while_the_text_can_become_it(
    typed: str, fits: bool
) -> None:
    async def nothing() -> None:
        return None

    ahead = Ahead(4, 8, "x = f(a)\n", asyncio.ensure_future(nothing()))
    document = Document("file:///a.py", "python", 1, "x = \n")
    document.replace(4, 4, typed)
    assert ahead.awaits(document) == fits
    document.replace(0, 1, "y")
    assert not ahead.awaits(document)
    await ahead.task


def candidate(start: int, end: int, text: str) -> Candidate:
    return Candidate(Span(start, end, "line", ""), text, -0.1, ())


def test_a_candidate_is_seen_from_the_cursor() -> None:
    assert insert_of("x = ", 4, candidate(0, 4, "x = 1")) == Insert("1", 0, -0.1)


def test_a_candidate_that_rewrites_what_is_typed_is_no_ghost_text() -> None:
    assert insert_of("x = ", 4, candidate(0, 4, "y = 1")) is None


def test_a_candidate_that_changes_nothing_is_none() -> None:
    assert insert_of("x = 1", 4, candidate(4, 5, "1")) is None


def shown(marked: str, insert: Insert) -> tuple[lsp_types.Range, str | None]:
    document = Document("file:///a.py", "python", 1, marked.replace("|", ""))
    line = marked[: marked.index("|")].count("\n")
    column = marked.index("|") - Lines(document.text).start(line)
    spot = find_spot(document, lsp_types.Position(line, column), "utf-16")
    return spot.range, line_text(spot, insert)


def test_an_item_keeps_the_rest_of_the_line() -> None:
    area, text = shown("f(|, b) # c\nlast\n", Insert("a", 0, -0.1))
    assert text == "a, b) # c"
    assert (area.start.character, area.end) == (2, lsp_types.Position(0, 10))


def test_an_item_over_several_lines_keeps_its_range_on_one() -> None:
    area, text = shown("f {|}\nlast\n", Insert("\n  a\n}", 1, -0.1))
    assert text == "\n  a\n}"
    assert area.end == lsp_types.Position(0, 4)


def test_what_replaces_later_lines_is_shown_if_it_ends_like_them() -> None:
    assert shown("a|\nb\n", Insert("x\nb", 2, -0.1))[1] == "x"
    assert shown("a|\nb\n", Insert("x\nc", 2, -0.1))[1] is None


def test_a_menu_entry_counts_as_typed() -> None:
    document = Document("file:///a.py", "python", 1, "os.pa\n")
    area = lsp_types.Range(lsp_types.Position(0, 3), lsp_types.Position(0, 5))
    chosen = lsp_types.SelectedCompletionInfo(area, "path")
    spot = find_spot(document, lsp_types.Position(0, 5), "utf-16", chosen)
    assert spot.snapshot.text == "os.path\n"
    assert spot.range.start == lsp_types.Position(0, 3)
    assert line_text(spot, Insert(".join(a)", 0, -0.1)) == "path.join(a)"
