"""The join score: what the file goes on with, after each candidate, in file order."""

from pathlib import Path

import pytest
import torch

from niello.engine.denoise import text_rows
from niello.engine.engine import Engine
from niello.engine.join import join_scores
from niello.engine.kernels import INT8
from niello.infill.canvas import Canvas, Draws
from niello.infill.context import Context

LONG = "value = other\n" * 20


@pytest.fixture
def engine(tiny_folder: Path) -> Engine:
    return Engine.load(tiny_folder, kernel=INT8)


def canvas(context: Context, given: str, after: str) -> Canvas:
    return Canvas(context, given, 12, lambda _: None, after=after)


def read_through(engine: Engine, head: str, after: str) -> float:
    """Score ``after`` by reading the file from its start, with nothing kept."""
    tokens = engine.tokens
    begun = [*tokens.opening(Context("", "")), *tokens.encode(head)]
    following = tokens.encode(after)
    cache = engine.model.new_cache()
    hidden = engine.model.forward([text_rows([*begun, *following], cache)])
    chances = engine.model.logits(hidden[len(begun) - 1 : -1]).log_softmax(-1)
    return float(chances[range(len(following)), following].mean())


@pytest.mark.parametrize(
    ("context", "given", "after"),
    [
        (Context("def f(a):\n", "return b", anchor=0), "    re", "return b"),
        (Context(f"{LONG}x = ", "y", anchor=len(LONG)), "", "y"),
        (Context("", "de"), "", "de"),
    ],
)
@pytest.mark.parametrize("texts", [["", "turn a", "x = y"], ["a", "ab"]])
def test_a_score_is_that_of_reading_the_file(
    engine: Engine, context: Context, given: str, after: str, texts: list[str]
) -> None:
    filled = canvas(context, given, after)
    engine.fill([filled], Draws())
    cache = engine._store.borrow(engine.tokens.prompt(context))
    kept = list(cache.token_ids)
    scores = join_scores(engine.model, engine.tokens, filled, texts, cache)
    for text, score in zip(texts, scores, strict=True):
        # The opening is tokenised for itself, as the prompt has it.
        opening = context.prefix[: context.anchor]
        tokens = engine.tokens
        apart = tokens.encode(opening) + tokens.encode(context.lead + given + text)
        whole = tokens.encode(opening + context.lead + given + text)
        if apart == whole:
            expected = read_through(engine, context.prefix + given + text, after)
            assert score == pytest.approx(expected, abs=1e-4)
    assert cache.token_ids == kept


def test_a_line_break_is_not_read_twice(engine: Engine) -> None:
    filled = canvas(Context("def f(a):\n", ""), "", "\nreturn b")
    cache = engine.model.new_cache()
    twice, once = join_scores(
        engine.model, engine.tokens, filled, ["x = a\n", "x = a"], cache
    )
    assert twice == once


def test_only_several_candidates_are_told_apart(engine: Engine) -> None:
    filled = canvas(Context("def f(a):\n", "return b"), "", "return b")
    (fills,) = engine.fill([filled], Draws(4, seed=3))
    assert len({fill.text for fill in fills}) > 1
    assert all(fill.join < 0 for fill in fills)
    ((single,),) = engine.fill([filled], Draws())
    assert single.join == 0
    (open_ended,) = engine.fill([filled._replace(after="")], Draws(4, seed=3))
    assert [fill.join for fill in open_ended] == [0.0] * 4


def test_scoring_changes_no_text(engine: Engine) -> None:
    filled = canvas(Context("def f(a):\n", "return b"), "", "return b")
    torch.manual_seed(0)
    (first,) = engine.fill([filled], Draws(3))
    (second,) = engine.fill([filled], Draws(3))
    assert [fill.text for fill in first] == [fill.text for fill in second]
