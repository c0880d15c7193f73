"""The end judge: it speaks at line ends alone, and a row's odds are the row's own."""

import math
from pathlib import Path

import pytest
import torch

from niello.engine.draft import Draft
from niello.engine.ends import EndJudge, features, load_ends
from niello.engine.engine import Engine
from niello.engine.filling import Filling, encode
from niello.engine.load import load_config
from niello.engine.pace import Plan
from niello.engine.recipes.train_ends import PATIENCE, Rows, train, write
from niello.engine.sample import Sampler
from niello.infill.canvas import Canvas
from niello.infill.context import Context

WIDTH, VOCABULARY = 8, 50
END_IDS = torch.tensor([40, 45])


def judge(bias: float = 0.0) -> EndJudge:
    generator = torch.Generator().manual_seed(3)
    inner = torch.randn(4, WIDTH + 1, generator=generator)
    outer = torch.randn(4, generator=generator)
    return EndJudge(END_IDS, inner, torch.zeros(4), outer, torch.tensor(bias))


@pytest.mark.parametrize(("bias", "ends"), [(100.0, True), (-100.0, False)])
def test_a_text_ends_where_the_judge_says(bias: float, ends: bool) -> None:
    logits, normed = torch.randn(3, VOCABULARY), torch.randn(3, WIDTH)
    before = logits.clone()
    judge(bias).weigh(normed, logits, [1])
    assert (int(logits[1].argmax()) in END_IDS.tolist()) == ends
    assert logits[[0, 2]].equal(before[[0, 2]])
    others = [n for n in range(VOCABULARY) if n not in END_IDS.tolist()]
    assert logits[1, others].equal(before[1, others])


def test_a_rows_odds_do_not_depend_on_its_neighbours() -> None:
    logits, normed = torch.randn(9, VOCABULARY), torch.randn(9, WIDTH)
    together, alone = logits.clone(), logits.clone()
    judge().weigh(normed, together, range(9))
    for row in range(9):
        judge().weigh(normed[row : row + 1], alone[row : row + 1], [0])
    assert together.equal(alone)


def test_line_ends_are_those_of_written_text(tiny_folder: Path) -> None:
    engine = Engine.load(tiny_folder)
    canvas = Canvas(Context("a = 1\n", "b = 2\n"), "", 40, lambda _: None)
    fixed = encode(canvas, engine.tokens)
    cache = engine.model.new_cache()
    filling = Filling(canvas, engine.tokens, fixed, cache, Sampler())
    line, rest = engine.tokens.encode("\n"), engine.tokens.encode("x")
    filling.draft = Draft([*line, *rest, *line], [0] * 3)
    filling.plan = Plan(3, {})
    assert filling.line_ends() == [1, 3]
    filling.token_ids += line
    assert filling.line_ends() == [0, 1, 3]


def test_a_judge_learns_and_is_written_as_it_was_trained(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(5)
    normed = torch.randn(3000, WIDTH, generator=generator)
    ended = (normed[:, 0] > 0.5).float()
    numbers = torch.arange(len(normed))
    rows = Rows(normed.half(), torch.zeros(len(normed)), ended, numbers, numbers)
    network = train(rows, numbers % 6 > 0, 60)
    measured = numbers % 6 == 0
    inputs = features(normed.half()[measured].float(), rows.odds[measured])
    with torch.no_grad():
        odds = network(inputs, rows.odds[measured])
    assert ((odds > 0) == (ended[measured] > 0)).float().mean() > 0.9

    made = {"special_tokens": {"end": 40}, "niello": {"adapter_digest": "a"}}
    path = tmp_path / "ends.safetensors"
    write(path, network, made)
    logits = torch.zeros(len(inputs), VOCABULARY)
    logits[:, 40] = math.log(VOCABULARY - 1)  # an end is as likely as none
    load_ends(path).weigh(inputs[:, :WIDTH], logits, range(len(inputs)))
    torch.testing.assert_close(logits[:, 40], odds - PATIENCE, atol=1e-4, rtol=1e-4)


def test_a_model_of_another_adapter_has_no_judge(tiny_folder: Path) -> None:
    assert load_config(tiny_folder)["niello"]["adapter_digest"]
    assert Engine.load(tiny_folder).model.ends is None
