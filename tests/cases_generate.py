"""Runs cases of kind ``generate``: the engine alone, on tiny random models.

Every check runs with a bidirectional and a block-causal model, and the default way of
the engine where the check does not ask for a block. ``stub`` names a model that gives
made-up logits.
"""

import atexit
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import torch
from cases import Case
from tiny_families import CPU, N_PLAIN, SPECIAL, write_family
from torch import Tensor

from niello.engine.families.bidirectional import Bidirectional
from niello.engine.families.blocks import Blocks
from niello.engine.families.cache import Cache
from niello.engine.families.commit import draw_gumbel, draw_sampled
from niello.engine.families.decoder import Rows
from niello.engine.families.decoding import Decoding
from niello.engine.families.open import open_family
from niello.engine.families.parts import join
from niello.engine.families.run import Seen
from niello.engine.families.table import FAMILIES
from niello.engine.families.tokens import FamilyTokens
from niello.infill.canvas import Canvas, Draws, Fill, Filler, never
from niello.infill.context import Context

Prompt = dict[str, Any]

WAYS = {"bidirectional": "a2d-qwen2", "block": "Fast_dLLM_Qwen"}
END = SPECIAL["<|endoftext|>"]


def run(case: Case) -> None:
    lines = (case.folder / case.table["prompts"]).read_text("utf-8").splitlines()
    prompts = [json.loads(line) for line in lines if line.strip()]
    for check in case.checks:
        CHECKS[check](prompts)


class Watched:
    """A filler that remembers the last state of its canvas."""

    def __init__(self, way: str, prompt: Prompt) -> None:
        self.seen: list[Seen] = []
        decoding = decoding_of(prompt)
        if "stub" in prompt:
            self.filler = stub_filler(way, prompt, decoding, self.seen.append)
        else:
            self.filler = open_family(folder(way), decoding, CPU, self.seen.append)

    def fill(self, prompt: Prompt) -> Fill:
        return fill_with(self.filler, [prompt])[0]


def decoding_of(prompt: Prompt) -> Decoding:
    return Decoding(
        length="fixed",
        canvas=int(prompt.get("canvas", 8)),
        block=int(prompt.get("block", 0)),
        steps=int(prompt.get("steps", 0)),
        cache=bool(prompt.get("cache", True)),
    )


def fill_with(filler: Filler, prompts: Sequence[Prompt]) -> list[Fill]:
    first = prompts[0]
    draws = Draws(1, float(first.get("temperature", 0.0)), int(first.get("seed", 0)))
    return [fills[0] for fills in filler.fill(list(map(canvas, prompts)), draws, never)]


def canvas(prompt: Prompt) -> Canvas:
    context = Context(str(prompt.get("prefix", "")), str(prompt.get("suffix", "")))
    return Canvas(context, "", int(prompt.get("canvas", 8)), lambda text: None)


def alone(way: str, prompt: Prompt, **changed: object) -> str:
    return Watched(way, {**prompt, **changed}).fill({**prompt, **changed}).text


def together(way: str, prompts: Sequence[Prompt]) -> list[str]:
    most = max(int(prompt.get("canvas", 8)) for prompt in prompts)
    shared = {**prompts[0], "canvas": most}
    return [f.text for f in fill_with(Watched(way, shared).filler, prompts)]


def check_no_exception(prompts: list[Prompt]) -> None:
    for way in WAYS:
        for size in (1, 2, 3, 5):
            together(way, (prompts * size)[:size])
            together(way, prompts[-size:])


def check_same_as_single(prompts: list[Prompt]) -> None:
    groups: dict[Decoding, list[Prompt]] = {}
    for prompt in prompts:
        groups.setdefault(decoding_of(prompt)._replace(canvas=0), []).append(prompt)
    for way in WAYS:
        for group in groups.values():
            assert together(way, group) == [alone(way, prompt) for prompt in group]


def check_same_as_serial(prompts: list[Prompt]) -> None:
    for way in WAYS:
        filler = Watched(way, prompts[0]).filler
        serial = [fill_with(filler, [prompt])[0].text for prompt in prompts]
        with ThreadPoolExecutor(len(prompts)) as pool:
            jobs = [pool.submit(fill_with, filler, [prompt]) for prompt in prompts]
            assert [job.result()[0].text for job in jobs] == serial


def check_cache_equals_nocache(prompts: list[Prompt]) -> None:
    for prompt in prompts:
        cached = alone("block", prompt, cache=True)
        assert cached == alone("block", prompt, cache=False)


def check_no_mask_ids(prompts: list[Prompt]) -> None:
    for way in WAYS:
        for prompt in prompts:
            watched = Watched(way, prompt)
            fill = watched.fill(prompt)
            n_places = fill.n_tokens if fill.reason == "end" else int(prompt["canvas"])
            last = watched.seen[-1] if watched.seen else Seen([], [], [], 0)
            assert not any(last.masked[:n_places])
            assert SPECIAL["<|mask|>"] not in last.token_ids[:n_places]


def check_ids_in_tokenizer(prompts: list[Prompt]) -> None:
    for way in WAYS:
        for prompt in prompts:
            watched = Watched(way, prompt)
            watched.fill(prompt)
            n_known = N_PLAIN + len(SPECIAL)
            assert all(
                0 <= i < n_known for seen in watched.seen for i in seen.token_ids
            )


def check_empty_or_valid(prompts: list[Prompt]) -> None:
    for way in WAYS:
        for prompt in prompts:
            text = alone(way, prompt)
            assert not any(special in text for special in SPECIAL)
            text.encode("utf-8")


def check_canvas0(prompts: list[Prompt]) -> None:
    for way in WAYS:
        for prompt in prompts:
            assert alone(way, prompt, canvas=0) == ""


def check_eos_handled(prompts: list[Prompt]) -> None:
    for way in WAYS:
        for prompt in prompts:
            assert len(alone(way, prompt)) == 3


def check_repeat_limited(prompts: list[Prompt]) -> None:
    for way in WAYS:
        for prompt in prompts:
            assert share_of_repeats(alone(way, prompt)) < 0.5


def share_of_repeats(text: str) -> float:
    runs = [text[n : n + 4] for n in range(len(text) - 3)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0


def check_distribution(prompts: list[Prompt]) -> None:
    for prompt in prompts:
        logits = torch.tensor(prompt["logits"])
        n_draws, temperature = int(prompt["draws"]), float(prompt["temperature"])
        expected = (logits.double() / temperature).softmax(-1) * n_draws
        for dtype in (torch.float32, torch.bfloat16):
            rows = logits.to(dtype).expand(n_draws, -1)
            for draw in (draw_gumbel, draw_sampled):
                generator = torch.Generator().manual_seed(int(prompt["seed"]))
                drawn = draw(rows, temperature, generator).token_ids
                counts = Counter(drawn.tolist())
                observed = torch.tensor([counts[n] for n in range(len(logits))])
                chi_square = float(((observed - expected) ** 2 / expected).sum())
                assert chi_square < chi_square_bound(len(logits) - 1)


def chi_square_bound(n_free: int, deviations: float = 3.09) -> float:
    """The value exceeded with probability 0.001 (Wilson and Hilferty)."""
    part = 2 / (9 * n_free)
    return float(n_free * (1 - part + deviations * part**0.5) ** 3)


def check_no_control_ids(prompts: list[Prompt]) -> None:
    for way in WAYS:
        tokens = tokens_of(way)
        for prompt in prompts:
            for name in ("prefix", "suffix", "twin", "twin_suffix"):
                ids = tokens.encode(str(prompt.get(name, "")))
                assert not set(ids) & tokens.special_ids
                assert tokens.decode(ids) == str(prompt.get(name, ""))
            check_same_canvas(way, prompt)


def check_same_canvas(way: str, prompt: Prompt) -> None:
    twin = {**prompt, "prefix": prompt.get("twin", prompt.get("prefix", ""))}
    twin["suffix"] = prompt.get("twin_suffix", prompt.get("suffix", ""))
    lengths = []
    for one in (prompt, twin):
        watched = Watched(way, one)
        watched.fill(one)
        lengths.append(len(watched.seen[0].token_ids) if watched.seen else 0)
    assert way == "block" or lengths[0] == lengths[1]


CHECKS: dict[str, Callable[[list[Prompt]], None]] = {
    "no_exception": check_no_exception,
    "same_as_single": check_same_as_single,
    "same_as_serial": check_same_as_serial,
    "cache_equals_nocache": check_cache_equals_nocache,
    "no_mask_ids": check_no_mask_ids,
    "ids_in_tokenizer": check_ids_in_tokenizer,
    "empty_or_valid": check_empty_or_valid,
    "no_special": check_empty_or_valid,
    "valid_utf8": check_empty_or_valid,
    "canvas0_ok": check_canvas0,
    "eos_handled": check_eos_handled,
    "repeat_limited": check_repeat_limited,
    "distribution_ok": check_distribution,
    "no_control_ids_from_user_text": check_no_control_ids,
    "context_tokens_unchanged": check_no_control_ids,
}


@cache
def folder(way: str) -> Path:
    root = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return write_family(root / way, WAYS[way], seed=7)


def tokens_of(way: str) -> FamilyTokens:
    return FamilyTokens(folder(way), family_of(way))


def family_of(way: str) -> Any:
    return next(f for f in FAMILIES if WAYS[way] in f.model_types and not f.hint)


class StubModel:
    """Made-up logits by place: ``first`` is the place of the canvas in the text."""

    device = torch.device("cpu")

    def __init__(self, kind: str, first: int) -> None:
        self._kind, self._first = kind, first

    def new_cache(self) -> Cache:
        return Cache(0)

    def forward(self, batch: Sequence[Rows]) -> Tensor:
        return torch.cat([rows.positions for rows in batch])[:, None].float()

    def logits(self, hidden: Tensor) -> Tensor:
        logits = torch.zeros(len(hidden), N_PLAIN + len(SPECIAL))
        for row, place in zip(
            logits, (hidden[:, 0] - self._first).tolist(), strict=True
        ):
            if self._kind == "nan_logits":
                row.fill_(float("nan"))
            elif self._kind == "inf_logits":
                row[:5] = float("inf")
            elif place < 3:
                row[64 + int(place) % 3] = 6.0
            else:
                row[END] = 20.0
        return logits


def stub_filler(
    way: str, prompt: Prompt, decoding: Decoding, watch: Callable[[Seen], None]
) -> Filler:
    tokens = tokens_of(way)
    family = family_of(way)._replace(shift=False, fim=None)
    first = len(tokens.encode(str(prompt.get("prefix", ""))))
    model = StubModel(str(prompt["stub"]), first)
    kind = Bidirectional if way == "bidirectional" else Blocks
    return kind(join(model, tokens, family, decoding, watch))
