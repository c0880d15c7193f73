"""Stable-DiffCoder: a Llama in blocks of 4, with the suffix first in its prompt."""

import json
from pathlib import Path
from typing import Any

import pytest
import transformers
from family_checks import by_name, check_infill, check_sampler, sampler_cases
from tiny_families import N_PLAIN, set_config, write_family, write_tokenizer

from niello.engine.families.decoding import Decoding
from niello.engine.families.table import find_family
from niello.engine.families.tokens import FamilyTokens
from niello.infill.context import Context

SEED_CODER = {
    "<[end_of_sentence]>": N_PLAIN,
    "<[MASK_TOKEN]>": N_PLAIN + 1,
    "<[fim-suffix]>": N_PLAIN + 2,
    "<[fim-prefix]>": N_PLAIN + 3,
    "<[fim-middle]>": N_PLAIN + 4,
}


def written(tmp_path: Path) -> Path:
    folder = write_family(
        tmp_path / "Stable-DiffCoder-8B-Base", "llama", base=transformers.LlamaConfig
    )
    set_config(
        folder,
        architectures=["StableDiffcoderForCausalLM"],
        mask_token_id=N_PLAIN + 1,
        eos_token_id=N_PLAIN,
    )
    write_tokenizer(folder, SEED_CODER, N_PLAIN)
    return folder


@pytest.mark.parametrize("case", sampler_cases("stable-diffcoder"), ids=str)
def test_tokens_equal_stable_diffcoder(case: dict[str, Any], tmp_path: Path) -> None:
    decoding = Decoding(
        length="fixed",
        canvas=case["room"],
        block=case["block"],
        threshold=case["threshold"] or 0.0,
        steps=0 if case["threshold"] else case["steps"],
        join=0,
    )
    check_sampler(case, "stable-diffcoder", decoding, tmp_path)


def test_the_published_format_infills(tmp_path: Path) -> None:
    check_infill(written(tmp_path))


def test_the_suffix_stands_first_in_the_prompt(tmp_path: Path) -> None:
    folder = written(tmp_path)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    family = find_family(config, folder.name)
    assert family == by_name("stable-diffcoder")
    tokens = FamilyTokens(folder, family)
    assert family.fim is not None
    prompt = tokens.fim_prompt(family.fim, Context("ab", "c"))
    assert prompt == [
        N_PLAIN + 2,
        *tokens.encode("c"),
        N_PLAIN + 3,
        *tokens.encode("ab"),
        N_PLAIN + 4,
    ]
