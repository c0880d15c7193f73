"""transformers' ``generate`` as a contestant, plain or with prompt look-up decoding.

    python hugging.py FOLDER THREADS plain|lookup

One JSON request a line, one JSON answer a line; run.py says what they hold.
"""

import json
import sys
import time
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, DynamicCache
from transformers.utils import logging

from niello.engine.tokens import Tokens
from niello.infill.context import Context

_N_LOOKED_UP = 10  # what transformers' guide to prompt look-up decoding proposes


class Generator:
    """A model with the cache of the last prompt."""

    def __init__(self, folder: Path, looks_up: bool) -> None:
        """Load the bfloat16 weights of a converted folder."""
        self.tokens = Tokens(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
        self.model.generation_config.pad_token_id = min(self.tokens.end_ids)
        self.looks_up = {"prompt_lookup_num_tokens": _N_LOOKED_UP} if looks_up else {}
        self.forget()

    def forget(self) -> None:
        """Empty the cache."""
        self.cache, self.prompt = DynamicCache(), []

    def fill(self, prefix: str, suffix: str, n_tokens: int) -> dict[str, float]:
        """Write exactly ``n_tokens`` tokens and tell the time."""
        start = time.perf_counter()
        prompt = self.tokens.prompt(Context(prefix, suffix))
        if prompt != self.prompt:
            self.forget()
        elif (n_over := self.cache.get_seq_length() - len(prompt) + 1) > 0:
            self.cache.crop(-n_over)
        with torch.inference_mode():
            written = self.model.generate(
                torch.tensor([prompt]),
                attention_mask=torch.ones(1, len(prompt), dtype=torch.int64),
                past_key_values=self.cache,
                do_sample=False,
                min_new_tokens=n_tokens,
                max_new_tokens=n_tokens,
                **self.looks_up,
            )
        self.prompt = prompt
        return {
            "seconds": time.perf_counter() - start,
            "n_prompt": len(prompt),
            "n_tokens": written.shape[1] - len(prompt),
        }


def main(folder: str, n_threads: str, way: str) -> None:
    """Answer requests until there are no more."""
    torch.set_num_threads(int(n_threads))
    logging.disable_progress_bar()
    start = time.perf_counter()
    generator = Generator(Path(folder), way == "lookup")
    _answer({"seconds": time.perf_counter() - start})
    for line in sys.stdin:
        request = json.loads(line)
        if request["cold"]:
            generator.forget()
        part = {key: request[key] for key in ("prefix", "suffix", "n_tokens")}
        _answer(generator.fill(**part))


def _answer(value: dict[str, float]) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
