"""Measures fill adapters: exact match and ends on held-out code, pass@1 on problems.

    python -m niello.engine.recipes.measure_fill ADAPTER... --base MODEL.gguf \
        --corpus CORPUS/files.jsonl --tokenizer tokenizer.json --bench FOLDER

All adapters are measured on the same samples. Texts are the raw greedy ones, to their
end token. Problems run in a process of their own, with a limit of seconds.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer

from .cursors import as_served
from .network import Base, load_base
from .samples import (
    ENDS,
    MIDDLE,
    Corpus,
    Problem,
    Sample,
    read_problems,
    read_tokenizer,
)
from .texts import draw_texts

_SECONDS = 5
_AT_ONCE = 16


def main() -> None:
    """Print one line of figures an adapter."""
    options = _parse()
    torch.set_num_threads(options.threads)
    tokenizer = read_tokenizer(options.tokenizer)
    rng = random.Random(options.seed)
    corpus = Corpus(options.corpus, held_out=True)
    held_out = [
        as_served(corpus.draw(rng, language), 256, 128, rng)
        for language in corpus.languages
        for _ in range(options.n_held_out)
    ]
    sets = {}
    for name in (
        "SingleLineInfilling",
        "MultiLineInfilling",
        "RandomSpanInfillingLight",
    ):
        path = options.bench / f"HumanEval-{name}.jsonl"
        sets[name] = read_problems(path, options.n_problems, rng)
    for adapter in options.adapters:
        base = load_base(options.base, adapter, options.device)
        figures = measure_held_out(base, tokenizer, held_out)
        for name, problems in sets.items():
            figures |= measure_problems(base, tokenizer, name, problems)
        print(json.dumps({"adapter": str(adapter)} | figures), flush=True)


def measure_held_out(
    base: Base, tokenizer: Tokenizer, samples: list[Sample]
) -> dict[str, float]:
    """Return exact match, and how many texts came to an end."""
    texts, ended = draw(base, tokenizer, samples, 64)
    pairs = [
        (text, sample.lead + sample.given + sample.middle)
        for text, sample in zip(texts, samples, strict=True)
    ]
    counts = {
        "exact": sum(text == true for text, true in pairs),
        "exact_but_for_line_end": sum(
            text.rstrip("\n") == true.rstrip("\n") for text, true in pairs
        ),
        "first_line": sum(
            text.split("\n")[0] == true.split("\n")[0] for text, true in pairs
        ),
        "ended": sum(ended),
    }
    return {"n_held_out": len(samples)} | {
        name: round(count / len(samples), 3) for name, count in counts.items()
    }


def measure_problems(
    base: Base, tokenizer: Tokenizer, name: str, problems: list[Problem]
) -> dict[str, float]:
    """Return pass@1 of the raw text and how many texts came to an end."""
    texts, ended = draw(base, tokenizer, [sample for sample, _ in problems], 160)
    passed = sum(
        passes_test(f"{sample.prefix}{text}{sample.suffix}\n{test}")
        for text, (sample, test) in zip(texts, problems, strict=True)
    )
    n = len(problems)
    return {f"{name}_passed": round(passed / n, 3), f"{name}_ended": sum(ended) / n}


def draw(
    base: Base, tokenizer: Tokenizer, samples: list[Sample], n_most: int
) -> tuple[list[str], list[bool]]:
    """Draw the text of each sample, given text included, and whether it ended."""
    texts, ended = [], []
    for start in range(0, len(samples), _AT_ONCE):
        some = samples[start : start + _AT_ONCE]
        for text in draw_texts(base, tokenizer, some, n_most):
            ended.append(text.drawn[-1] in ENDS)
            ids = text.drawn[:-1] if ended[-1] else text.drawn
            given = text.prompt[text.prompt.index(MIDDLE) + 1 :]
            texts.append(tokenizer.decode(given + ids, skip_special_tokens=False))
    return texts, ended


def passes_test(program: str) -> bool:
    """Run a program in a process of its own and return whether it ended well."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", program],
            capture_output=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("adapters", type=Path, nargs="+")
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--n-held-out", type=int, default=4, help="texts a language")
    parser.add_argument("--n-problems", type=int, default=24, help="problems a set")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=20261130)
    return parser.parse_args()


if __name__ == "__main__":
    main()
