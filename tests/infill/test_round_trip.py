"""The measurement of round trips on this repository's own files."""

import random
from pathlib import Path

import pytest

from niello.bench.roundtrip import pick, play, spoil

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = sorted(
    path
    for pattern in ("infill/*.py", "grammars/*", "editors/**/*", "*.toml", "*.md")
    for path in ROOT.glob(pattern)
    if path.suffix in {".py", ".toml", ".md", ".ts", ".js", ".lua", ".json"}
    if not {"node_modules", "out", "dist"} & set(path.parts)
    if path.stat().st_size < 60_000
)


@pytest.mark.slow
def test_what_was_deleted_comes_back() -> None:
    outcomes = [
        outcome
        for path in FILES
        for trip in pick(path, random.Random(path.name), 4)
        for outcome in play(trip)
    ]
    wrong = [(each.trip, each.rule) for each in outcomes if not each.same]
    assert len(outcomes) > 400
    assert len(wrong) <= 0.01 * len(outcomes), wrong


@pytest.mark.slow
def test_no_wrong_text_is_shown_that_parses_worse() -> None:
    for path in FILES:
        rng = random.Random(path.name)
        for trip in pick(path, rng, 3):
            spoilt = spoil(trip, ["x = (1", "} else {", "'"], rng)
            assert spoilt.n_after <= spoilt.n_before, spoilt
