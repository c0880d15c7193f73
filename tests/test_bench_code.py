"""`niello bench code`: what is deleted from real files and how fills are compared."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from niello.bench import code
from niello.bench.roundtrip import Trip
from niello.engine.filling import Limits
from niello.infill.canvas import Canvas, Draws, Fill, StopFlag

SOURCE = "def double(a):\n    return a + a\n\n\nprint(double(3))\n"
DELETED = "return a + a"


class FakeEngine:
    """Writes one text wherever it is asked."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.limits = Limits(n_draft=8)

    def fill(
        self, canvases: Sequence[Canvas], draws: Draws, stop: StopFlag
    ) -> list[list[Fill]]:
        return [[Fill(self.text, -0.1, 2, "end", 5, 7)] for _ in canvases]


def filled(tmp_path: Path, text: str) -> code.Filled:
    path = tmp_path / "a.py"
    path.write_text(SOURCE)
    start = SOURCE.index(DELETED)
    trip = Trip(path, "python", start, start + len(DELETED), "statement")
    return code.fill(FakeEngine(text), trip)  # type: ignore[arg-type]


def test_the_deleted_text_is_exact(tmp_path: Path) -> None:
    found = filled(tmp_path, DELETED + "\n")
    assert (found.exact, found.first_line, found.ran_over, found.worse) == (
        True,
        True,
        False,
        False,
    )
    assert found.twice.same
    assert code.summarize([found])["fed_per_token"] == 1.4


def test_other_text_is_not(tmp_path: Path) -> None:
    found = filled(tmp_path, "return 2 * a\n")
    assert not found.exact
    assert not found.first_line
    assert found.twice.fill is not None


def test_places_come_one_a_file_and_by_language(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.go"):
        (tmp_path / name).write_text(SOURCE)
    found = code._by_language([tmp_path], ["python"])
    assert {path.name for path in found["python"]} == {"a.py", "b.py"}
    trips = code._trips(found["python"], 5, code.random.Random(1))
    assert len({trip.path for trip in trips}) == len(trips) == 2


def test_nothing_to_fill_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(code.Engine, "load", lambda *_, **__: FakeEngine("x"))
    monkeypatch.setattr(code.Store, "path", lambda *_: tmp_path)
    (tmp_path / "empty.py").write_text("")
    assert code.main([str(tmp_path / "empty.py")]) == 1
    assert "no file with a place" in capsys.readouterr().err
