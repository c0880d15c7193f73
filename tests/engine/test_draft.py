"""Drafting by look-up."""

from niello.engine.draft import N_KINDS, NOTHING, LookUp, guessed


def test_the_longest_repeated_ending_is_continued() -> None:
    assert LookUp().draft([1, 2, 3, 4, 9, 1, 2, 3], 3).token_ids == [4, 9, 1]


def test_the_latest_earlier_place_wins() -> None:
    assert LookUp().draft([1, 2, 5, 1, 2, 6, 1, 2], 1).token_ids == [6]


def test_text_without_repetition_has_no_draft() -> None:
    assert LookUp().draft([1, 2, 3, 4], 5) == NOTHING


def test_an_index_grows_with_its_text() -> None:
    look_up = LookUp()
    assert look_up.draft([1, 2, 3], 4) == NOTHING
    assert look_up.draft([1, 2, 3, 1, 2], 4).token_ids == [3, 1]


def test_what_is_guessed_ahead_is_continued_as_well() -> None:
    look_up = LookUp()
    text = [1, 2, 3, 4, 9, 1, 2]
    assert look_up.draft(text, 2, [3]).token_ids == [4, 9]
    # The guesses themselves are not known to have been written.
    assert look_up.draft([*text, 7, 4], 2, [9]).token_ids == [1, 2]
    assert look_up.draft([*text, 7, 4], 2, [3]) == NOTHING


def test_kinds_tell_surer_guesses_and_longer_endings_apart() -> None:
    short = LookUp().draft([1, 2, 3, 9, 2, 3], 1).kinds
    long = LookUp().draft([1, 2, 3, 9, 1, 2, 3], 1).kinds
    sure = guessed([1, 2, 3], [0.0, 0.5, 1.0]).kinds
    kinds = [*sure, *short, *long]
    assert sorted(set(kinds)) == kinds
    assert all(0 <= kind < N_KINDS for kind in kinds)
