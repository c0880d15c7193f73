"""The real default model: drafted text is the text of the plain loop."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from niello.engine.engine import Engine
from niello.engine.model import Rows
from niello.engine.store import Store
from niello.infill.canvas import Canvas, Draws
from niello.infill.context import Context

pytestmark = [pytest.mark.model, pytest.mark.slow]

N_PROMPTS, ROOM, LONG_ROOM, NEAR = 50, 8, 32, 100
SOURCES = ("infill", "engine", "lsp")


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load(Store().path("default"))


def prompts() -> list[Context]:
    """Return places spread over this repository's own sources."""
    root = Path(__file__).resolve().parents[2]
    texts = [
        path.read_text("utf-8")
        for part in SOURCES
        for path in sorted((root / part).glob("*.py"))
        if path.stat().st_size > 2000
    ]
    found = []
    for number in range(N_PROMPTS):
        text = texts[number % len(texts)]
        place = 400 + (number * 997) % (len(text) - 800)
        place = text.rfind(" ", 0, place)
        after = text.find("\n", place)
        found.append(Context(text[place - NEAR : place], text[after : after + NEAR]))
    return found


def prompts_of_lines() -> list[Context]:
    """Return places where some lines are missing."""
    places = []
    for part, name in (("infill", "span.py"), ("engine", "cache.py")):
        root = Path(__file__).resolve().parents[2]
        lines = (root / part / name).read_text("utf-8").splitlines(keepends=True)
        for first in (60, 90):
            before, after = lines[first - 8 : first], lines[first + 3 : first + 9]
            places.append(Context("".join(before), "".join(after)))
    return places


def plain_text(engine: Engine, context: Context, room: int) -> tuple[str, int]:
    """Compute everything anew for every token; return the text and its near ties."""
    token_ids = engine.tokens.prompt(context)
    written: list[int] = []
    n_ties = 0
    while len(written) < room:
        rows = torch.tensor(token_ids + written)
        cache = engine.model.new_cache()
        hidden = engine.model.forward([Rows(rows, torch.arange(len(rows)), cache)])
        at_line_end = engine.tokens.decode(written[-1:]).endswith(b"\n")
        logits = engine.model.logits(hidden[-1:], [0] if at_line_end else [])[0]
        best, second = logits.topk(2).values.tolist()
        n_ties += best - second < 1e-2
        token_id = int(logits.argmax())
        if token_id in engine.tokens.special_ids:
            break
        written.append(token_id)
    return engine.tokens.decode(written).decode("utf-8", "ignore"), n_ties


def test_drafted_text_is_the_plain_loops_with_the_cache_off(
    engine: Engine, record_property: Callable[[str, object], None]
) -> None:
    assert engine.model.ends is not None
    n_tied = 0
    short = [(context, ROOM) for context in prompts()]
    for context, room in [*short, *((c, LONG_ROOM) for c in prompts_of_lines())]:
        canvas = Canvas(context, "", room, lambda _: None)
        ((fill,),) = engine.fill([canvas], Draws())
        text, n_ties = plain_text(engine, context, room)
        n_tied += n_ties
        assert fill.text == text
    record_property("near_ties", n_tied)
