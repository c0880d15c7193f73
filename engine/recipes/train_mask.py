"""Trains mask mode on the base's own greedy text; resumes where it was stopped.

    python -m niello.engine.recipes.train_mask WORK --base MODEL.gguf \
        --adapter FILL.safetensors --corpus CORPUS/files.jsonl \
        --tokenizer tokenizer.json --start MASK.safetensors --minutes 60

Each round reads some contexts, draws the base's greedy text after them all at once, and
trains on blocks of masks at many anchors of each: every place of the drawn text, and
places of the context where the base would have written the same. The targets are thus
what a draft is checked against when serving, and cost nothing extra. The loss is taken
over the vocabulary that drafts are drawn from.
"""

import argparse
import json
import random
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

from . import mask_mode
from .blocks import Blocks, blocks_in_drawn, blocks_in_prompt, stack
from .cursors import as_served
from .measure import measure
from .network import Base, load_base
from .run import Run, add_arguments
from .samples import ENDS, Corpus, read_tokenizer
from .texts import Text, draw_measured, draw_texts
from .vocabulary import IGNORED, Vocabulary

OFFSET_WEIGHTS = (1.0, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)  # from offset 2 on


def main() -> None:
    """Train until the minutes are spent."""
    options = _parse()
    torch.set_num_threads(options.threads)
    Trainer(options, load_base(options.base, options.adapter, options.device)).train()


class Trainer:
    """Mask mode in training, with the data it draws."""

    def __init__(self, options: argparse.Namespace, base: Base) -> None:
        """Start afresh or from the checkpoint in the work folder."""
        self.options, self.base = options, base
        self.tokenizer = read_tokenizer(options.tokenizer)
        self.corpus = Corpus(options.corpus, held_out=False)
        self.model = mask_mode.load(options.start, options.offsets, options.rank)
        self.model.to(options.device)
        sampler = list(self.model.sampler.parameters())
        others = [self.model.mask_embedding, *self.model.adapters.parameters()]
        groups = [(others, options.rate), (sampler, 4 * options.rate)]
        self.run = Run(options.work, options.minutes, options.seed, groups)
        self.vocabulary = Vocabulary(base.head, self._frequent_tokens())
        self.figures: dict[str, float] = {}

    def train(self) -> None:
        """Run rounds until the time is over; measure, save and export on the way."""
        options = self.options
        held_out = Corpus(options.corpus, held_out=True)
        texts = draw_measured(
            self.base, held_out, self.tokenizer, options.bench, options.n_measured
        )
        measure_texts = partial(self._measure, texts)
        self.run.go(self._round, measure_texts, self._save, options)

    def _round(self) -> None:
        options, rng = self.options, self.run.rng
        samples = [
            as_served(self.corpus.draw(rng), 256, 128, rng)
            for _ in range(options.round)
        ]
        texts = draw_texts(self.base, self.tokenizer, samples, options.drawn)
        rng.shuffle(texts)
        for start in range(0, len(texts), options.batch):
            self._train_on(texts[start : start + options.batch])

    def _train_on(self, texts: Sequence[Text]) -> None:
        begun = time.monotonic()
        k = self.run.rng.choice(self.options.n_masks)
        weights = torch.tensor(OFFSET_WEIGHTS[:k], device=self.base.head.device)
        chosen = [self._blocks(text, k) for text in texts]
        total = sum(float(((b.targets != IGNORED) * weights).sum()) for b in chosen)
        plain, refined = 0.0, 0.0
        for text, blocks in zip(texts, chosen, strict=True):
            if len(blocks.anchors):
                losses = self._losses(text, blocks, weights) / total
                torch.autograd.backward(losses.mean())
                plain, refined = plain + losses[0].item(), refined + losses[1].item()
        rate = self.run.rate
        self.run.update()
        self.run.log(
            k=k,
            blocks=sum(len(b.anchors) for b in chosen),
            rate=round(rate, 4),
            plain=round(plain, 4),
            refined=round(refined, 4),
            took=round(time.monotonic() - begun, 2),
        )

    def _losses(
        self, text: Text, blocks: Blocks, weights: torch.Tensor
    ) -> torch.Tensor:
        """Return the summed losses of the masks' own guesses and of the sampler's."""
        k = blocks.targets.shape[1]
        hidden = self.model(self.base, text.context, blocks.anchors, k)
        refined = self.model.refine(self.base, hidden, blocks.before)
        self.vocabulary.add_text(text.prompt + text.drawn)
        ranks = self.vocabulary.ranks(blocks.targets)
        known = ranks != IGNORED
        targets, scale = ranks[known], weights.expand_as(known)[known]
        losses = []
        for states in (hidden, refined):
            logits = self.vocabulary.logits(states[known]).float()
            each = cross_entropy(logits, targets, reduction="none")
            losses.append((each * scale).sum())
        return torch.stack(losses)

    def _blocks(self, text: Text, k: int) -> Blocks:
        """Choose anchors, with what each mask should say."""
        drawn = blocks_in_drawn(text, k)
        there = blocks_in_prompt(text, k, self.base, self.run.rng)
        self.run.rng.shuffle(drawn)
        self.run.rng.shuffle(there)
        chosen = drawn[: self.options.anchors] + there[: self.options.context_anchors]
        return stack(chosen, k, self.base.head.device)

    def _frequent_tokens(self) -> torch.Tensor:
        path = self.options.work / "vocabulary.json"
        if not path.exists():
            counts = self.corpus.count_tokens(self.tokenizer, 400, random.Random(1))
            most = [token for token, _ in counts.most_common(self.options.vocabulary)]
            path.write_text(json.dumps(sorted({*most, *ENDS})))
        ids = json.loads(path.read_text())
        return torch.tensor(ids, device=self.options.device)

    def _measure(self, texts: Sequence[Text]) -> None:
        begun = time.monotonic()
        k = self.options.n_measured_masks
        groups = measure(self.model, self.base, texts, self.vocabulary, k)
        self.figures = groups["all"]
        self.run.log(measured=groups, took=round(time.monotonic() - begun, 1))

    def _save(self) -> None:
        self.run.save()
        facts = self.base.digests | {
            "recipe": "engine/recipes/train_mask.py",
            "steps": str(self.run.step),
            "minutes": str(round(self.run.seconds / 60)),
            "measured": json.dumps(self.figures),
        }
        path = self.options.work / "export.safetensors"
        frequent, most_rank = self.vocabulary.frequent, self.options.export_rank
        mask_mode.save(path, self.model, frequent, facts, most_rank)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser)
    parser.add_argument("--adapter", type=Path, required=True, help="the fill adapter")
    parser.add_argument("--bench", type=Path, help="HumanEval-Infilling, to measure on")
    parser.add_argument("--n-measured", type=int, default=5, help="texts a group")
    parser.add_argument("--n-measured-masks", type=int, default=3)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument(
        "--offsets", type=int, default=6, help="the last offset of a mask"
    )
    parser.add_argument("--rank", type=int, default=0, help="at least this")
    parser.add_argument("--export-rank", type=int, default=16, help="cut to this")
    parser.add_argument("--n-masks", type=int, nargs="+", default=[1, 1, 2, 2, 3, 3, 5])
    parser.add_argument("--vocabulary", type=int, default=24_000)
    parser.add_argument("--round", type=int, default=24, help="texts drawn at once")
    parser.add_argument("--batch", type=int, default=2, help="texts a step")
    parser.add_argument("--drawn", type=int, default=48, help="tokens drawn at most")
    parser.add_argument("--anchors", type=int, default=48, help="in the drawn text")
    parser.add_argument("--context-anchors", type=int, default=40)
    return parser.parse_args()


if __name__ == "__main__":
    main()
