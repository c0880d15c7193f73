"""Trains the fill adapter: what to write in a span, and where it ends; resumes.

    python -m niello.engine.recipes.train_fill WORK --base MODEL.gguf \
        --corpus CORPUS/files.jsonl --tokenizer tokenizer.json \
        --start FILL.safetensors --minutes 60

Samples are cut by the product's own spans and contexts. The loss covers the middle and
its end token; a share of the texts is plain left-to-right code, so that nothing else is
lost. Mask mode belongs to the adapter it was trained on: train it again after this.
"""

import argparse
import random
from functools import partial
from typing import NamedTuple

import torch
from torch.nn.functional import cross_entropy, linear

from .adapters import Adapters, fill_in, rank_of, read_weights, write_weights
from .cursors import as_served, training_ids, with_extra
from .network import Base, attend_causally, load_base, rms_norm, run_layer
from .run import Run, add_arguments
from .samples import Corpus, encode, read_tokenizer

LEFT_TO_RIGHT_SHARE = 0.1
_LONGEST_PLAIN = 400  # tokens of a left-to-right text


class Lesson(NamedTuple):
    """A text and the place from which its tokens are learned."""

    token_ids: list[int]
    start: int


def main() -> None:
    """Train until the minutes are spent."""
    options = _parse()
    torch.set_num_threads(options.threads)
    Trainer(options, load_base(options.base, None, options.device)).train()


class Trainer:
    """The fill adapter in training."""

    def __init__(self, options: argparse.Namespace, base: Base) -> None:
        """Start afresh, from weights, or from the checkpoint in the work folder."""
        self.options, self.base = options, base
        self.tokenizer = read_tokenizer(options.tokenizer)
        self.corpus = Corpus(options.corpus, held_out=False)
        tensors = read_weights(options.start) if options.start else {}
        rank = rank_of(tensors) if tensors else options.rank
        self.adapters = Adapters(rank)
        fill_in(self.adapters.tensors(), tensors)
        self.adapters.to(options.device)
        groups = [(list(self.adapters.parameters()), options.rate)]
        self.run = Run(options.work, options.minutes, options.seed, groups)

    def train(self) -> None:
        """Train until the time is over; measure, save and export on the way."""
        options = self.options
        held_out, rng = Corpus(options.corpus, held_out=True), random.Random(20261130)
        measured_on = [
            self._lesson(held_out, rng, language)
            for language in held_out.languages
            for _ in range(options.n_measured)
        ]
        measure = partial(self._measure, measured_on)
        self.run.go(self._step, measure, self._save, options)

    def _step(self) -> None:
        rng = self.run.rng
        lessons = [self._draw(rng) for _ in range(self.options.batch)]
        total = sum(len(ids) - start for ids, start in lessons)
        loss = 0.0
        for lesson in lessons:
            part = self._losses(lesson).sum() / total
            torch.autograd.backward(part)
            loss += part.item()
        self.run.update()
        self.run.log(loss=round(loss, 4), tokens=total)

    def _draw(self, rng: random.Random) -> Lesson:
        if rng.random() < LEFT_TO_RIGHT_SHARE:
            sample = self.corpus.draw(rng)
            ids = encode(self.tokenizer, sample.prefix + sample.given + sample.middle)
            return Lesson(ids[:_LONGEST_PLAIN], 1)
        return self._lesson(self.corpus, rng, None)

    def _lesson(
        self, corpus: Corpus, rng: random.Random, language: str | None
    ) -> Lesson:
        share = rng.uniform(0.25, 1.0)
        prefix, suffix = self.options.prefix_tokens, self.options.suffix_tokens
        sample = corpus.draw(rng, language)
        sample = as_served(sample, int(share * prefix), int(share * suffix), rng)
        sample = with_extra(sample, corpus, rng)
        return Lesson(*training_ids(self.tokenizer, sample))

    def _losses(self, lesson: Lesson) -> torch.Tensor:
        """Return the loss of each learned token."""
        ids = torch.tensor(lesson.token_ids, device=self.base.head.device)
        positions = torch.arange(len(ids), device=ids.device)
        x = self.base.embedding[ids]
        for index, layer in enumerate(self.base.layers):
            x = run_layer(x, layer, index, positions, attend_causally, self.adapters)
        hidden = rms_norm(x[lesson.start - 1 : -1], self.base.norm)
        logits = linear(hidden, self.base.head).float()
        return cross_entropy(logits, ids[lesson.start :], reduction="none")

    @torch.no_grad()
    def _measure(self, lessons: list[Lesson]) -> None:
        losses = [self._losses(lesson) for lesson in lessons]
        ends = torch.stack([each[-1] for each in losses]).mean().item()
        whole = torch.cat(losses).mean().item()
        self.run.log(held_out=round(whole, 4), held_out_end=round(ends, 4))

    def _save(self) -> None:
        self.run.save()
        facts = self.base.digests | {
            "rank": str(self.adapters.rank),
            "recipe": "engine/recipes/train_fill.py",
            "steps": str(self.run.step),
            "minutes": str(round(self.run.seconds / 60)),
        }
        path = self.options.work / "export.safetensors"
        write_weights(path, self.adapters.tensors(), facts)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--batch", type=int, default=4, help="texts a step")
    parser.add_argument("--prefix-tokens", type=int, default=256)
    parser.add_argument("--suffix-tokens", type=int, default=128)
    parser.add_argument("--n-measured", type=int, default=8, help="texts a language")
    return parser.parse_args()


if __name__ == "__main__":
    main()
