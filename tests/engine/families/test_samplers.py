"""Greedy tokens equal those of the published samplers on the same tiny models.

golden/samplers.json names each sampler's source and commit. The mask was ruled out in
the references as it is here: a sampler that draws the mask only wastes a pass.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_families import GOLDEN, load, write_checkpoint

from niello.engine.families.bidirectional import Bidirectional
from niello.engine.families.blocks import Blocks
from niello.engine.families.commit import draw_gumbel, draw_sampled
from niello.engine.families.decoding import Decoding
from niello.engine.families.table import FAMILIES
from niello.infill.canvas import Canvas, Draws, never
from niello.infill.context import Context

CASES: list[dict[str, Any]] = json.loads((GOLDEN / "samplers.json").read_text("utf-8"))
MASK = 60


class PlainTokens:
    """A vocabulary whose tokens are characters: id n is chr(n + 1)."""

    mask_id = MASK
    end_ids: frozenset[int] = frozenset()
    special_ids = frozenset({MASK})
    begin_id = delete_id = split_id = None
    window = 1000

    def __init__(self, end_id: int | None = None) -> None:
        self.end_id = end_id

    def encode(self, text: str) -> list[int]:
        return [ord(character) - 1 for character in text]

    def decode(self, token_ids: list[int]) -> str:
        return "".join(chr(token_id + 1) for token_id in token_ids)


def choices(case: dict[str, Any]) -> tuple[str, Decoding]:
    """The family and the decoding that stand for a published sampler's arguments."""
    room = case["room"]
    common = Decoding(length="fixed", canvas=room, cache=False, join=0)
    kind, _, rule = case["sampler"].partition(" ")
    rules = {"maskgit_plus": "scheduled", "topk_margin": "margin"}
    match kind:
        case "llada":
            return kind, common._replace(
                block=case["block"],
                steps=case.get("steps", 0),
                threshold=case.get("threshold", 0.0),
            )
        case "dream":
            rule = rules.get(rule, rule)
            return kind, common._replace(steps=case["steps"], commit=rule)
        case "dreamon":
            return kind, common._replace(
                length="expand", canvas=case["start"], commit=rules.get(rule, rule)
            )
    static = rule.endswith("static")
    return {"llada21": "llada2.1"}.get(kind, kind), common._replace(
        block=case["block"],
        threshold=case["threshold"],
        edit_threshold=case.get("edit_threshold", 0.9),
        commit="scheduled" if static else "",
        cache=True,
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["sampler"])
def test_tokens_equal_the_published_sampler(
    case: dict[str, Any], tmp_path: Path
) -> None:
    golden = json.loads((GOLDEN / f"{case['model']}.json").read_text("utf-8"))
    write_checkpoint(golden, tmp_path)
    name, decoding = choices(case)
    family = next(family for family in FAMILIES if family.name == name)
    model = load(tmp_path, family.names)
    family = family._replace(
        begins=False, ends=False, fim=None, expand_id=case.get("expand_id")
    )
    tokens = PlainTokens(case.get("delete_id"))
    seen: list[Any] = []
    filler = Bidirectional if family.way == "bidirectional" else Blocks
    context = Context(
        tokens.decode(case["prompt"]), tokens.decode(case.get("suffix", []))
    )
    canvas = Canvas(context, "", case["room"], lambda text: None)
    filler(model, tokens, family, decoding, seen.append).fill(  # type: ignore[arg-type]
        [canvas], Draws(), never
    )
    assert seen[-1].token_ids[: case["room"]] == case["tokens"]
    if "forwards" in case:
        assert seen[-1].forwards == case["forwards"]


def test_draws_equal_the_published_ones_for_the_same_seed() -> None:
    logits = torch.randn(5, 61, generator=torch.Generator().manual_seed(2))
    ours = draw_gumbel(logits, 0.7, torch.Generator().manual_seed(5))
    # LLaDA's add_gumbel_noise, written as the formula of its docstring.
    torch.manual_seed(5)
    noise = torch.rand_like(logits, dtype=torch.float64)
    theirs = (logits.double().exp() / (-noise.log()) ** 0.7).argmax(-1)
    assert torch.equal(ours.token_ids, theirs)
    ours = draw_sampled(logits, 0.7, torch.Generator().manual_seed(5))
    torch.manual_seed(5)
    probabilities = torch.softmax(logits / 0.7, -1)
    theirs = torch.distributions.Categorical(probs=probabilities).sample()
    assert torch.equal(ours.token_ids, theirs)
