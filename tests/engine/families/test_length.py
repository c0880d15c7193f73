"""Length policies as functions."""

import pytest

from niello.engine.families.length import Probe, length_bias, nearby, search
from niello.infill.canvas import Canvas
from niello.infill.context import Context


def found(probe: Probe, peak: int) -> tuple[int, int]:
    """Answer a search by a confidence that peaks; return length and passes."""
    n_passes = 0
    try:
        length = next(probe)
        while True:
            n_passes += 1
            length = probe.send(1 / (1 + abs(length - peak)))
    except StopIteration as done:
        return done.value, n_passes


@pytest.mark.parametrize("peak", [1, 5, 8, 11, 20])
def test_search_finds_the_peak_on_either_side(peak: int) -> None:
    flat = search(8, 64, budget=100, bias=lambda n: 1.0)
    assert found(flat, peak)[0] == peak


def test_search_stays_within_its_budget_and_room() -> None:
    assert found(search(8, 64, budget=6, bias=lambda n: 1.0), 60)[1] <= 6
    assert found(search(8, 10, bias=lambda n: 1.0), 60)[0] <= 10


def test_longer_canvases_are_expected_to_be_less_sure() -> None:
    assert length_bias(4) > length_bias(16) > length_bias(64) > 0.2


def canvas(prefix: str, given: str = "    ") -> Canvas:
    return Canvas(Context(prefix, ""), given, 40, lambda text: None)


def test_a_line_is_as_long_as_those_that_begin_alike() -> None:
    prefix = "    self.a = first\n    self.bc = second\n    if x:\n"
    assert nearby(canvas(prefix, "    self"), len) == 15 - 4


def test_without_a_like_line_the_indentation_decides() -> None:
    assert nearby(canvas("def f():\n    a = 1\n    b = 2\n"), len) == 5


def test_with_nothing_nearby_a_default_is_taken() -> None:
    assert nearby(canvas(""), len) == 16
