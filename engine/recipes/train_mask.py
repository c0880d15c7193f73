"""Trains mask mode on the base's own greedy text; resumes where it was stopped.

    python -m niello.engine.recipes.train_mask WORK --base MODEL.gguf \
        --adapter FILL.safetensors --corpus CORPUS/files.jsonl \
        --tokenizer tokenizer.json --start WEIGHTS --minutes 60

Each round reads some contexts, draws the base's greedy text after them
all at once, and trains on blocks of masks at many anchors of each: every place of the
drawn text, and places of the context where the base would have written the same. The
targets are thus what a draft is checked against when serving, and cost nothing extra.
The loss is taken over the frequent part of the vocabulary.
"""

import argparse
import json
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy, linear

from . import mask_mode
from .blocks import IGNORED, Blocks, blocks_in_drawn, blocks_in_prompt, stack
from .measure import measure
from .network import Base, load_base
from .samples import ENDS, Corpus, read_tokenizer
from .texts import Text, draw_measured, draw_texts

OFFSET_WEIGHTS = (0.5, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)


def main() -> None:
    """Train until the minutes are spent."""
    options = _parse()
    torch.set_num_threads(options.threads)
    options.work.mkdir(parents=True, exist_ok=True)
    base = load_base(options.base, options.adapter, options.device)
    Run(options, base).train()


class Run:
    """The state of a training run, all of it in the checkpoint."""

    def __init__(self, options: argparse.Namespace, base: Base) -> None:
        """Start afresh or from the checkpoint in the work folder."""
        self.options, self.base = options, base
        self.tokenizer = read_tokenizer(options.tokenizer)
        self.corpus = Corpus(options.corpus, held_out=False)
        self.rng = random.Random(options.seed)
        self.vocabulary = self._frequent_tokens()
        self.head = base.head[self.vocabulary]
        self.rank_of = torch.full((len(base.head),), IGNORED, device=options.device)
        self.rank_of[self.vocabulary] = torch.arange(
            len(self.vocabulary), device=options.device
        )
        self.model = mask_mode.load(options.start, options.offsets).to(options.device)
        sampler = list(self.model.sampler.parameters())
        ours = {id(p) for p in sampler}
        adapters = [p for p in self.model.parameters() if id(p) not in ours]
        groups = [
            {"params": adapters, "peak": options.rate},
            {"params": sampler, "peak": 2 * options.rate},
        ]
        self.optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.0)
        self.step, self.seconds, self.n_blocks = 0, 0.0, 0
        self.figures: dict[str, float] = {}
        if self._checkpoint.exists():
            self._resume()

    def train(self) -> None:
        """Run rounds until the minutes are spent; measure, save, export on the way."""
        options = self.options
        held_out = Corpus(options.corpus, held_out=True)
        texts = draw_measured(
            self.base, held_out, self.tokenizer, options.bench, options.n_measured
        )
        measured = saved = -math.inf
        while self.seconds < 60 * options.minutes:
            if self.seconds - measured > 60 * options.measure_minutes:
                self._measure(texts)
                measured = self.seconds
            begun = time.monotonic()
            self._round()
            self.seconds += time.monotonic() - begun
            if self.seconds - saved > 180:
                self._save()
                saved = self.seconds
        self._measure(texts)
        self._save()

    def _round(self) -> None:
        options = self.options
        samples = [self.corpus.draw(self.rng) for _ in range(options.round)]
        texts = draw_texts(self.base, self.tokenizer, samples, options.drawn)
        self.rng.shuffle(texts)
        for start in range(0, len(texts), options.batch):
            begun = time.monotonic()
            self._train_on(texts[start : start + options.batch], begun)

    def _train_on(self, texts: Sequence[Text], begun: float) -> None:
        rate = self._rate()
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * rate
        k = self.rng.choice(self.options.block_lengths)
        sums = torch.zeros(4)
        all_blocks = [self._blocks(text, k) for text in texts]
        weights = torch.tensor(OFFSET_WEIGHTS[:k], device=self.head.device)
        total = sum(float(((b.targets != IGNORED) * weights).sum()) for b in all_blocks)
        for text, blocks in zip(texts, all_blocks, strict=True):
            if len(blocks.anchors) == 0:
                continue
            plain, refined = self._losses(text, blocks, weights, sums)
            torch.autograd.backward((plain + refined) / (2 * total))
            self.n_blocks += len(blocks.anchors)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        self._log(
            {
                "step": self.step,
                "minutes": round(self.seconds / 60, 2),
                "blocks": self.n_blocks,
                "rate": round(rate, 4),
                "plain": round(float(sums[0] / sums[2]), 4),
                "refined": round(float(sums[1] / sums[2]), 4),
                "took": round(time.monotonic() - begun, 2),
                "k": k,
            }
        )

    def _losses(
        self, text: Text, blocks: Blocks, weights: torch.Tensor, sums: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the summed losses of the masks' own guesses and of the sampler's."""
        k = blocks.targets.shape[1]
        hidden = self.model(self.base, text.context, blocks.anchors, k)
        refined = self.model.refine(self.base, hidden, blocks.before)
        known = blocks.targets != IGNORED
        targets, scale = blocks.targets[known], weights.expand_as(known)[known]
        losses = []
        for states in (hidden, refined):
            logits = linear(states[known], self.head).float()
            each = cross_entropy(logits, targets, reduction="none")
            losses.append((each * scale).sum())
        sums[0] += losses[0].item()
        sums[1] += losses[1].item()
        sums[2] += scale.sum().item()
        return losses[0], losses[1]

    def _blocks(self, text: Text, k: int) -> Blocks:
        """Choose anchors and look up what each mask should say."""
        drawn = blocks_in_drawn(text, k)
        there = blocks_in_prompt(text, k, self.base, self.rng)
        self.rng.shuffle(drawn)
        self.rng.shuffle(there)
        chosen = drawn[: self.options.anchors] + there[: self.options.context_anchors]
        blocks = stack(chosen, k, self.head.device)
        ranks = self.rank_of[blocks.targets.clamp(min=0)]
        ranks = ranks.where(blocks.targets != IGNORED, IGNORED)
        return blocks._replace(targets=ranks)

    def _rate(self) -> float:
        """Warm up, hold, and fall along a cosine over the last half of the minutes."""
        spent = self.seconds / (60 * self.options.minutes)
        fall = 0.5 + 0.5 * math.cos(math.pi * min(1.0, max(0.0, 2 * spent - 1)))
        return min(1.0, (self.step + 1) / 20) * max(0.03, fall)

    def _frequent_tokens(self) -> torch.Tensor:
        path = self.options.work / "vocabulary.json"
        if not path.exists():
            counts = self.corpus.count_tokens(self.tokenizer, 400, self.rng)
            most = [token for token, _ in counts.most_common(self.options.vocabulary)]
            path.write_text(json.dumps(sorted({*most, *ENDS})))
        ids = json.loads(path.read_text())
        return torch.tensor(ids, device=self.options.device)

    def _measure(self, texts: Sequence[Text]) -> None:
        begun = time.monotonic()
        k = max(self.options.block_lengths)
        groups = measure(self.model, self.base, texts, self.vocabulary, k)
        self.figures = groups["all"]
        took = round(time.monotonic() - begun, 1)
        row = {"step": self.step, "minutes": round(self.seconds / 60, 2)}
        self._log(row | {"blocks": self.n_blocks, "took": took, "measured": groups})

    @property
    def _checkpoint(self) -> Path:
        path: Path = self.options.work / "checkpoint.pt"
        return path

    def _save(self) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "seconds": self.seconds,
            "blocks": self.n_blocks,
            "rng": self.rng.getstate(),
        }
        part = self._checkpoint.with_suffix(".part")
        torch.save(state, part)
        part.replace(self._checkpoint)
        facts = self.base.digests | {
            "recipe": "engine/recipes/train_mask.py",
            "steps": str(self.step),
            "minutes": str(round(self.seconds / 60)),
            "blocks": str(self.n_blocks),
            "measured": json.dumps(self.figures),
        }
        mask_mode.save(self.options.work / "export.safetensors", self.model, facts)

    def _resume(self) -> None:
        state = torch.load(self._checkpoint, weights_only=False)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds = state["step"], state["seconds"]
        self.n_blocks = state["blocks"]
        self.rng.setstate(state["rng"])

    def _log(self, row: dict[str, object]) -> None:
        with (self.options.work / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path, help="checkpoints, log and export")
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument(
        "--start", type=Path, required=True, help="weights to go on from"
    )
    parser.add_argument("--bench", type=Path, help="HumanEval-Infilling, to measure on")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--measure-minutes", type=float, default=10)
    parser.add_argument("--n-measured", type=int, default=5, help="texts a group")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--offsets", type=int, default=6, help="mask embeddings")
    parser.add_argument("--block-lengths", type=int, nargs="+", default=[6])
    parser.add_argument("--vocabulary", type=int, default=24_000)
    parser.add_argument("--round", type=int, default=24, help="texts drawn at once")
    parser.add_argument("--batch", type=int, default=4, help="texts a step")
    parser.add_argument("--drawn", type=int, default=48, help="tokens drawn at most")
    parser.add_argument("--anchors", type=int, default=40, help="in the drawn text")
    parser.add_argument("--context-anchors", type=int, default=16)
    return parser.parse_args()


if __name__ == "__main__":
    main()
