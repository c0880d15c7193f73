"""Drafting by look-up."""

from niello.engine.draft import LookUp


def test_the_longest_repeated_ending_is_continued() -> None:
    assert LookUp().draft([1, 2, 3, 4, 9, 1, 2, 3], 3) == [4, 9, 1]


def test_the_latest_earlier_place_wins() -> None:
    assert LookUp().draft([1, 2, 5, 1, 2, 6, 1, 2], 1) == [6]


def test_text_without_repetition_has_no_draft() -> None:
    assert LookUp().draft([1, 2, 3, 4], 5) == []


def test_an_index_grows_with_its_text() -> None:
    look_up = LookUp()
    assert look_up.draft([1, 2, 3], 4) == []
    assert look_up.draft([1, 2, 3, 1, 2], 4) == [3, 1]
