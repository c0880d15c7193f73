"""Several candidates: their order, and what a filler is told to order them by."""

from collections.abc import Sequence

from niello.infill.canvas import Canvas, Draws, Fill, StopFlag
from niello.infill.propose import Options, propose
from niello.infill.snapshot import Snapshot

TEXT = "def f(a):\n    return \n\n\nprint(f(1))\n"


class FakeFiller:
    """Writes fills that are already scored."""

    def __init__(self, *fills: Fill) -> None:
        self.fills = list(fills)
        self.canvases: list[Canvas] = []

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        self.canvases.extend(canvases)
        return [self.fills for _ in canvases]


def texts(filler: FakeFiller) -> list[str]:
    snapshot = Snapshot("file:///a.py", 1, "python", TEXT)
    cursor = TEXT.index("return ") + len("return ")
    return [each.text for each in propose(snapshot, cursor, filler, Options(Draws(3)))]


def test_a_better_join_outweighs_a_slightly_better_score() -> None:
    filler = FakeFiller(
        Fill("a", -0.2, 1, "span", join=-2.0),
        Fill("b", -0.3, 1, "span", join=-0.5),
        Fill("c", -3.0, 1, "span", join=-0.4),
    )
    assert texts(filler) == ["b", "a", "c"]


def test_a_line_that_the_room_cuts_off_is_not_shown() -> None:
    text = "def f(a):\n    "
    snapshot = Snapshot("file:///a.py", 1, "python", text)
    for reason, want in (("room", "b = a"), ("end", "b = a\n    return comp")):
        filler = FakeFiller(Fill("b = a\n    return comp", -0.2, 1, reason))
        (found,) = propose(snapshot, len(text), filler, Options())
        assert found.text == want


def test_a_filler_is_told_what_the_file_goes_on_with() -> None:
    filler = FakeFiller(Fill("a", -0.2, 1, "span"))
    assert texts(filler) == ["a"]
    assert filler.canvases[0].after == "\n\n\nprint(f(1))\n"
