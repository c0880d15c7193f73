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

N_PROMPTS, ROOM, NEAR = 50, 8, 100
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


def plain_text(engine: Engine, context: Context) -> tuple[str, int]:
    """Compute everything anew for every token; return the text and its near ties."""
    token_ids = engine.tokens.prompt(context)
    written: list[int] = []
    n_ties = 0
    while len(written) < ROOM:
        rows = torch.tensor(token_ids + written)
        cache = engine.model.new_cache()
        hidden = engine.model.forward([Rows(rows, torch.arange(len(rows)), cache)])
        best, second = engine.model.logits(hidden[-1:])[0].topk(2).values.tolist()
        n_ties += best - second < 1e-2
        token_id = int(engine.model.logits(hidden[-1:]).argmax())
        if token_id in engine.tokens.special_ids:
            break
        written.append(token_id)
    return engine.tokens.decode(written).decode("utf-8", "ignore"), n_ties


def test_drafted_text_is_the_plain_loops_with_the_cache_off(
    engine: Engine, record_property: Callable[[str, object], None]
) -> None:
    n_tied = 0
    for context in prompts():
        canvas = Canvas(context, "", ROOM, lambda _: None)
        ((fill,),) = engine.fill([canvas], Draws())
        text, n_ties = plain_text(engine, context)
        n_tied += n_ties
        assert fill.text == text
    record_property("near_ties", n_tied)
