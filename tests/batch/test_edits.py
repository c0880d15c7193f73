"""Edits of a text, made and undone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from niello.batch.edits import Edit, apply_steps, from_json, to_json, undo_steps
from niello.infill.errors import SettingsError


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[list[Edit]], str]:
    text = start = draw(st.text(max_size=40))
    steps = []
    for _ in range(draw(st.integers(0, 3))):
        cuts = draw(st.sets(st.integers(0, len(text)), max_size=8))
        places = sorted(cuts)
        edits = [
            Edit(a, b, text[a:b], draw(st.text(max_size=5)))
            for a, b in zip(places[::2], places[1::2], strict=False)
        ]
        steps.append(draw(st.permutations(edits)))
        for edit in sorted(edits, reverse=True):
            text = text[: edit.start] + edit.new + text[edit.end :]
    return start, steps, text


@given(edited())
def test_steps_are_made_in_any_order_of_their_edits_and_undone(
    case: tuple[str, list[list[Edit]], str],
) -> None:
    before, steps, after = case
    assert apply_steps(before, steps) == after
    assert undo_steps(after, steps) == before
    assert from_json({"edits": to_json(steps)}) == steps


@pytest.mark.parametrize("edits", [None, [1], [[[1, 2]]], [[["a", 2, "", ""]]]])
def test_damaged_edits_are_refused(edits: object) -> None:
    with pytest.raises(SettingsError, match="damaged"):
        from_json({"edits": edits})
