"""Draws the base's own greedy texts, which mask mode is trained and measured on."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from tokenizers import Tokenizer

from .network import Base, Cache, draw_greedy, read_context
from .samples import ENDS, Corpus, Sample, prompt_ids, read_problems


class Text(NamedTuple):
    """A prompt, the base's greedy text after it, the keys and values of both."""

    group: str
    prompt: list[int]
    drawn: list[int]
    context: tuple[torch.Tensor, torch.Tensor]
    hidden: torch.Tensor  # the last hidden states of the prompt, (time, width)


def draw_texts(
    base: Base, tokenizer: Tokenizer, samples: Sequence[Sample], n_most: int
) -> list[Text]:
    """Read the samples' contexts and draw at most ``n_most`` tokens after each."""
    prompts = [prompt_ids(tokenizer, sample) for sample in samples]
    device = base.embedding.device
    reads = [read_context(base, torch.tensor(ids, device=device)) for ids in prompts]
    cache = Cache([(keys, values) for keys, values, _ in reads], n_most)
    hidden = torch.stack([hidden[-1] for _, _, hidden in reads])
    drawn = draw_greedy(base, cache, hidden, n_most, ENDS)
    texts = []
    for row, sample in enumerate(samples):
        context = cache.row(row, len(drawn[row]) - 1)
        states = reads[row][2]
        texts.append(Text(sample.language, prompts[row], drawn[row], context, states))
    return texts


def draw_measured(
    base: Base, corpus: Corpus, tokenizer: Tokenizer, bench: Path | None, n: int
) -> list[Text]:
    """Draw the texts that everything is measured on: ``n`` a language, ``n`` a set."""
    rng = random.Random(20261130)
    samples = [
        corpus.draw(rng, language) for language in corpus.languages for _ in range(n)
    ]
    for kind in ("SingleLine", "MultiLine") if bench else ():
        path = Path(bench or "") / f"HumanEval-{kind}Infilling.jsonl"
        samples += [problem.sample for problem in read_problems(path, n, rng)]
    texts = []
    for start in range(0, len(samples), 16):
        texts += draw_texts(base, tokenizer, samples[start : start + 16], 64)
    return texts
