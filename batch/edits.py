"""Edits of one text: applied from the end to the start, and undone the same way."""

from collections.abc import Sequence
from typing import NamedTuple

from niello.infill.errors import SettingsError

from .journal import Event


class Edit(NamedTuple):
    """``[start, end)`` of a text, which reads ``old``, becomes ``new``."""

    start: int
    end: int
    old: str
    new: str


Steps = Sequence[Sequence[Edit]]
"""The edits of each step; offsets count in the text that the step found."""


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Make all edits, whose offsets are those of ``text``."""
    for edit in sorted(edits, reverse=True):
        assert text[edit.start : edit.end] == edit.old, "an edit fits its text"
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text


def apply_steps(text: str, steps: Steps) -> str:
    """Make the edits of each step in turn."""
    for edits in steps:
        text = apply_edits(text, edits)
    return text


def undo_steps(text: str, steps: Steps) -> str:
    """Return the text that ``apply_steps`` made this one of."""
    for edits in reversed(steps):
        back: list[Edit] = []
        shift = 0
        for edit in sorted(edits):
            start = edit.start + shift
            back.append(Edit(start, start + len(edit.new), edit.new, edit.old))
            shift += len(edit.new) - len(edit.old)
        text = apply_edits(text, back)
    return text


def to_json(steps: Steps) -> list[object]:
    """Return edits as they stand in a journal."""
    return [[list(edit) for edit in edits] for edits in steps]


def from_json(event: Event) -> list[list[Edit]]:
    """Return the edits of a journal's event, or say that it is damaged."""
    damaged = SettingsError("the journal has damaged edits; run it anew")
    steps = event.get("edits")
    if not isinstance(steps, list):
        raise damaged
    read: list[list[Edit]] = []
    for step in steps:
        edits: list[Edit] = []
        for values in step if isinstance(step, list) else [None]:
            match values:
                case [int(start), int(end), str(old), str(new)]:
                    edits.append(Edit(start, end, old, new))
                case _:
                    raise damaged
        read.append(edits)
    return read
