"""DiffuSeq: Gaussian diffusion of word vectors under a BERT encoder."""

from pathlib import Path
from typing import Any

import pytest
import torch
from family_checks import (
    check_infill,
    driven,
    formula,
    golden,
    passed,
    write_golden,
)
from tiny_families import CPU, N_PLAIN, SPECIAL, set_config, write_tokenizer

from niello.engine.families.decoding import Decoding, sampling
from niello.engine.families.diffuseq import DiffuSeq
from niello.infill.errors import ModelError

GOLDEN = golden("diffuseq")


def test_outputs_equal_the_published_code(tmp_path: Path) -> None:
    model = DiffuSeq(write_golden("diffuseq", tmp_path), CPU)
    vectors = formula((GOLDEN["rows"], 16), 5, "") * 3
    ours = model._down(passed(model, model._embed(vectors, GOLDEN["step"])))
    expected = torch.tensor(GOLDEN["expected"])
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: str(case["passes"]))
def test_tokens_equal_the_published_sampler_for_the_same_noise(
    case: dict[str, Any], tmp_path: Path
) -> None:
    model = DiffuSeq(write_golden("diffuseq", tmp_path), CPU, case["passes"])
    fixed = torch.tensor(case["fixed"], dtype=torch.bool)
    how = sampling(0.0, case["seed"], torch.device("cpu"))
    sample = model.sample(torch.tensor(case["token_ids"]), fixed, how)
    assert driven(model, sample).argmax(-1).tolist() == case["tokens"]


def test_a_converted_checkpoint_infills(tmp_path: Path) -> None:
    folder = write_golden(
        "diffuseq",
        tmp_path / "diffuseq_qqp",
        vocab_size=N_PLAIN + len(SPECIAL),
        eos_token_id=SPECIAL["<|endoftext|>"],
        bos_token_id=SPECIAL["<|beginoftext|>"],
    )
    write_tokenizer(folder, SPECIAL, N_PLAIN)
    check_infill(folder, Decoding(length="fixed", canvas=9, steps=5))


def test_another_noise_schedule_is_refused(tmp_path: Path) -> None:
    folder = write_golden("diffuseq", tmp_path)
    set_config(folder, noise_schedule="cosine")
    with pytest.raises(ModelError, match="noise schedule"):
        DiffuSeq(folder, CPU)
