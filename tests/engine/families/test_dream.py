"""Dream, Dream-Coder and DiffuCoder: a Qwen2 seen whole, each row predicts the next."""

import json
from pathlib import Path
from typing import Any

import pytest
from family_checks import (
    check_infill,
    check_logits,
    check_sampler,
    sampler_cases,
    write_like_golden,
)
from tiny_families import SPECIAL

from niello.engine.families.decoding import Decoding
from niello.engine.families.table import find_family
from niello.engine.families.tokens import FamilyTokens

RULES = {
    "maskgit_plus": "scheduled",
    "topk_margin": "margin",
    "entropy": "entropy",
}


def test_logits_equal_the_published_code(tmp_path: Path) -> None:
    check_logits("dream", tmp_path)


@pytest.mark.parametrize("case", sampler_cases("dream"), ids=str)
def test_tokens_equal_dream(case: dict[str, Any], tmp_path: Path) -> None:
    decoding = Decoding(
        length="fixed",
        canvas=case["room"],
        cache=False,
        steps=case["steps"],
        commit=RULES[case["sampler"].partition(" ")[2]],
    )
    check_sampler(case, "dream", decoding, tmp_path)


@pytest.mark.parametrize("name", ["Dream-Coder-v0-Base-7B", "DiffuCoder-7B-Base"])
def test_the_published_format_infills(name: str, tmp_path: Path) -> None:
    check_infill(write_like_golden("dream", tmp_path / name))


def test_a_tokenizer_published_as_vocabulary_and_merges_is_read(tmp_path: Path) -> None:
    folder = write_like_golden("dream", tmp_path / "Dream-v0-Base-7B")
    described = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    (folder / "tokenizer.json").unlink()
    vocabulary = described["model"]["vocab"]
    (folder / "vocab.json").write_text(json.dumps(vocabulary), "utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", "utf-8")
    (folder / "added_tokens.json").write_text(json.dumps(SPECIAL), "utf-8")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    tokens = FamilyTokens(folder, find_family(config, folder.name))
    text = "x = 'é'  # <|mask|>\n"
    ids = tokens.encode(text)
    assert tokens.decode(ids) == text
    assert not set(ids) & tokens.special_ids
    assert tokens.special_ids >= set(SPECIAL.values())
    check_infill(folder)
