"""Trains the end judge: whether a text that stands at a line's end goes on.

    python -m niello.engine.recipes.train_ends WORK --corpus CORPUS/files.jsonl \
        --minutes 30 --seed 1

Reads true middles with the default model and keeps its outputs at the ends of their
lines in WORK/rows-SEED.safetensors; the last line of a whole middle is where a text
ends. Then trains on all rows in WORK, which several processes may have gathered with
seeds of their own, and writes WORK/ends.safetensors. ``--minutes 0`` gathers none.
"""

import argparse
import json
import random
import time
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from niello.engine.denoise import text_rows
from niello.engine.ends import features, log_odds
from niello.engine.engine import Engine
from niello.engine.load import Config, load_config
from niello.engine.store import Store
from niello.infill.context import Context

from .cursors import as_served, with_extra
from .samples import Corpus, Sample, cut_anywhere, cut_function, cut_lines

_FUNCTION_SHARE = 0.5  # of the samples: lines of a Python function
_LINES_SHARE = 0.75  # of the others: lines of a block
_PYTHON_SHARE = 0.58  # of the others
_LONGEST = 900  # tokens
_SLICE = 256
_N_INNER = 64
_DROPPED = 0.3  # of the inputs, while training
_HELD_OUT = 6  # one sample of so many is measured on, and not trained on before
PATIENCE = 0.5  # of log-odds: an end too late can be cut, one too early is the end


class Rows(NamedTuple):
    """Outputs at line ends."""

    normed: Tensor  # (n, width) float16
    odds: Tensor  # (n,) of the end, as the model has them
    ended: Tensor  # (n,) 1 where the text ended
    sample: Tensor  # (n,) which sample it was
    language: Tensor  # (n,)


class Gatherer:
    """Reads samples with the default model."""

    def __init__(self, corpus: Corpus, rng: random.Random) -> None:
        """Load the model, one thread."""
        self._engine = Engine.load(Store().path("default"), n_threads=1)
        self._corpus, self._rng = corpus, rng
        self._end_ids = torch.tensor(sorted(self._engine.tokens.special_ids))

    def draw(self) -> tuple[str, Tensor, Tensor, list[float]]:
        """Return language, outputs, odds and ends of one sample's line ends."""
        while True:
            sample = self._sample()
            token_ids, ends = self._line_ends(sample)
            if ends and len(token_ids) <= _LONGEST:
                break
        model = self._engine.model
        cache, states = model.new_cache(), []
        while (begun := len(cache.token_ids)) < len(token_ids):
            part = token_ids[begun : begun + _SLICE]
            states.append(model.forward([text_rows(part, cache)]))
            cache.keep(part)
        hidden = torch.cat(states)[list(ends)]
        odds = log_odds(model.logits(hidden), self._end_ids)
        return sample.language, model.normed(hidden), odds, list(ends.values())

    def _sample(self) -> Sample:
        rng = self._rng
        others = [name for name in self._corpus.languages if name != "python"]
        if rng.random() < _FUNCTION_SHARE:
            sample = self._corpus.draw(rng, "python", cut_function)
        else:
            python = rng.random() < _PYTHON_SHARE
            language = "python" if python else rng.choice(others)
            cut = cut_lines if rng.random() < _LINES_SHARE else cut_anywhere
            sample = self._corpus.draw(rng, language, cut)
        share = rng.uniform(0.25, 1.0)
        sample = as_served(sample, int(share * 384), int(share * 192), rng)
        return with_extra(sample, self._corpus, rng)

    def _line_ends(self, sample: Sample) -> tuple[list[int], dict[int, float]]:
        """Return the text, and at which tokens lines of the middle end.

        Beside each stands whether the text ends there too, 1 or 0.
        """
        tokens = self._engine.tokens
        begun = tokens.prompt(Context(sample.prefix, sample.suffix))
        fixed = sample.lead + sample.given
        written = tokens.encode(fixed + sample.middle)
        n_fixed, n_bytes, ends = len(fixed.encode()), 0, {}
        for number, token_id in enumerate(written, 1):
            text = tokens.decode([token_id])
            n_bytes += len(text)
            if text.endswith(b"\n") and n_bytes > n_fixed:
                ends[len(begun) + number - 1] = float(number == len(written))
        return [*begun, *written], ends


def main() -> None:
    """Gather until the minutes are spent, then train."""
    options = _parse()
    torch.set_num_threads(1)
    options.work.mkdir(parents=True, exist_ok=True)
    corpus = Corpus(options.corpus, held_out=False)
    if options.minutes:
        _gather(options, corpus)
    paths = sorted(options.work.glob("rows-*.safetensors"))
    rows = _read_rows(paths)
    measured = rows.sample % _HELD_OUT == 0
    network = train(rows, ~measured, options.rounds)
    _report(rows, measured, network, corpus.languages)
    network = train(rows, torch.ones_like(measured), options.rounds)
    write(
        options.work / "ends.safetensors",
        network,
        load_config(Store().path("default")),
    )


def _gather(options: argparse.Namespace, corpus: Corpus) -> None:
    gatherer = Gatherer(corpus, random.Random(options.seed))
    path = options.work / f"rows-{options.seed}.safetensors"
    parts: list[Rows] = []
    begun = saved = time.monotonic()
    while time.monotonic() - begun < 60 * options.minutes:
        language, normed, odds, ended = gatherer.draw()
        number = torch.full((len(ended),), len(parts))
        of = torch.full((len(ended),), corpus.languages.index(language))
        parts.append(Rows(normed.half(), odds, torch.tensor(ended), number, of))
        if time.monotonic() - saved > 120:
            _save_rows(path, parts)
            saved = time.monotonic()
            print(json.dumps({"samples": len(parts)}), flush=True)
    _save_rows(path, parts)


def _save_rows(path: Path, parts: list[Rows]) -> None:
    columns = (torch.cat(column) for column in zip(*parts, strict=True))
    save_file(dict(zip(Rows._fields, columns, strict=True)), path)


def _read_rows(paths: list[Path]) -> Rows:
    parts = []
    for path in paths:
        with safe_open(path, framework="pt") as file:
            parts.append(Rows(*(file.get_tensor(name) for name in Rows._fields)))
    return Rows(*(torch.cat(column) for column in zip(*parts, strict=True)))


class Network(nn.Module):
    """The judge in training, its inputs scaled to one size."""

    def __init__(self, inputs: Tensor) -> None:
        """Take the inputs ``(n, width + 1)`` that say how large each is."""
        super().__init__()
        self.mean, self.scale = inputs.mean(0), inputs.std(0) + 1e-3
        self.inner = nn.Linear(inputs.shape[1], _N_INNER)
        self.outer = nn.Linear(_N_INNER, 1)
        self.dropout = nn.Dropout(_DROPPED)

    def forward(self, inputs: Tensor, odds: Tensor) -> Tensor:
        """Return the log-odds ``(n,)`` of an end."""
        scaled = self.dropout((inputs - self.mean) / self.scale)
        inner = self.dropout(nn.functional.gelu(self.inner(scaled)))
        judged: Tensor = self.outer(inner)[:, 0] + odds / 2
        return judged


def train(rows: Rows, which: Tensor, n_rounds: int) -> Network:
    """Train a judge on the rows that ``which`` marks."""
    torch.manual_seed(0)
    odds, ended = rows.odds[which], rows.ended[which]
    inputs = features(rows.normed[which].float(), odds)
    network = Network(inputs)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-4, weight_decay=0.1)
    for _ in range(n_rounds):
        for part in torch.randperm(len(inputs)).split(256):
            judged = network(inputs[part], odds[part])
            loss = binary_cross_entropy_with_logits(judged, ended[part])
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
    return network.eval()


@torch.no_grad()
def _report(
    rows: Rows, measured: Tensor, network: Network, languages: list[str]
) -> None:
    """Print loss and right answers by language, the model's own beside the judge's."""
    print("| language | line ends | ended | loss | judged | right, % | judged |")
    print("| --- " * 7 + "|")
    for number, name in [*enumerate(languages), (None, "all")]:
        of = measured if number is None else measured & (rows.language == number)
        own, ended = rows.odds[of], rows.ended[of]
        judged = network(features(rows.normed[of].float(), own), own)
        losses = [
            binary_cross_entropy_with_logits(each, ended).item()
            for each in (own, judged)
        ]
        right = [
            100 * ((each > 0) == (ended > 0)).float().mean().item()
            for each in (own, judged)
        ]
        cells = [f"{loss:.3f}" for loss in losses] + [f"{each:.1f}" for each in right]
        share = f"{100 * ended.mean().item():.0f} %"
        print(f"| {name} | {len(own)} | {share} | " + " | ".join(cells) + " |")


def write(path: Path, network: Network, made: Config) -> None:
    """Write the judge as `EndJudge` reads it, without the scaling of its inputs.

    ``made`` is the config of the model that it was trained on.
    """
    inner = network.inner.weight / network.scale
    tensors = {
        "end_ids": torch.tensor(sorted(set(made["special_tokens"].values()))),
        "inner": inner,
        "inner_bias": network.inner.bias - inner @ network.mean,
        "outer": network.outer.weight[0],
        "outer_bias": network.outer.bias[0] - PATIENCE,
    }
    facts = {
        "adapter_sha256": made["niello"]["adapter_digest"],
        "recipe": "engine/recipes/train_ends.py",
    }
    save_file({n: t.detach().contiguous() for n, t in tensors.items()}, path, facts)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path, help="rows and export")
    parser.add_argument("--corpus", type=Path, required=True, help="files.jsonl")
    parser.add_argument("--minutes", type=float, default=30, help="of gathering")
    parser.add_argument("--rounds", type=int, default=20, help="over all rows")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
