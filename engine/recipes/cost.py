"""A pass beside its floor, and how the cost of a fill grows.

    python -m niello.engine.recipes.cost [--plot FILE] [--json]

The floor of a pass is the larger of two times: moving all its bytes at the rate this
machine reads memory, and doing all its sums at the rate its 8-bit products reach when
they are large. ``--plot FILE`` draws both tables.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

from niello.engine.cache import KVCache
from niello.engine.engine import Engine
from niello.engine.filling import Limits
from niello.engine.kernels import pack_quickest
from niello.engine.load import load_config
from niello.engine.model import Rows
from niello.engine.store import Store
from niello.infill.canvas import Canvas, Draws
from niello.infill.context import Context

ROWS = (1, 4, 8, 16, 32)
PREFILL = 1024
CONTEXTS = (256, 1024, 2048, 4096)
FILLS = (8, 32, 128)
LAPTOP = (50e9, 1.2e12)
"""Bytes and operations a second of a common laptop: eight cores with AVX2."""


class Pass(NamedTuple):
    """One pass; times in milliseconds."""

    rows: int
    megabytes: float
    giga_operations: float
    floor: float
    laptop_floor: float
    measured: float


class Grown(NamedTuple):
    """A fill of one size; seconds."""

    threads: int
    context: int
    tokens: int
    prefill: float
    drafting: float
    one_at_a_time: float


def main() -> None:
    """Measure, print, and plot if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--plot", type=Path, metavar="FILE", help="needs matplotlib")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = Store().path("default")
    passes: list[Pass] = []
    grown: list[Grown] = []
    ffn_width = load_config(folder)["intermediate_size"]
    for n_threads in options.threads:
        engine = Engine.load(folder, n_threads=n_threads)
        passes = measure_passes(engine, ffn_width)
        grown += measure_growth(engine, n_threads)
    if options.plot:
        plot(passes, grown, options.plot)
    if options.json:
        found = {"passes": [p._asdict() for p in passes]}
        print(json.dumps(found | {"growth": [g._asdict() for g in grown]}))
    else:
        print(table(passes), table(grown), sep="\n\n")


def measure_passes(engine: Engine, ffn_width: int) -> list[Pass]:
    """Time passes of few rows and of a prefill, beside what they must move and do."""
    facts = engine.model.facts
    kv_width = 2 * facts.n_kv_heads * facts.head_dim
    attention = facts.width * (2 * facts.width + kv_width)
    per_layer = attention + 3 * facts.width * ffn_width
    weights = facts.n_layers * per_layer  # one byte each
    head = facts.width * facts.vocabulary
    bytes_a_second, operations_a_second = memory_rate(), arithmetic_rate()
    found = []
    for n_rows in (*ROWS, PREFILL):
        is_prefill = n_rows == PREFILL
        n_seen = PREFILL // 2 if is_prefill else PREFILL
        cached = 4 * facts.n_layers * kv_width * n_seen
        n_bytes = weights + cached + (0 if is_prefill else head)
        mixing = 4 * facts.n_layers * facts.n_heads * facts.head_dim * n_seen
        operations = n_rows * (2 * weights + mixing + (0 if is_prefill else 2 * head))
        rates = ((bytes_a_second, operations_a_second), LAPTOP)
        here, laptop = (1e3 * max(n_bytes / b, operations / o) for b, o in rates)
        seconds = _prefill(engine) if is_prefill else _pass(engine, n_rows)
        found.append(
            Pass(n_rows, n_bytes / 1e6, operations / 1e9, here, laptop, 1e3 * seconds)
        )
    return found


def measure_growth(engine: Engine, n_threads: int) -> list[Grown]:
    """Time fills of growing contexts and lengths; the text is the model's own."""
    token_ids = engine.tokens.encode(Path(argparse.__file__).read_text("utf-8"))
    prefixes = [
        engine.tokens.decode(token_ids[:n_context]).decode("utf-8", "ignore")
        for n_context in CONTEXTS
    ]
    drafting = engine.limits
    engine.tokens.special_ids = frozenset()  # Every fill is as long as it may be.
    found = []
    for n_context, prefix in zip(CONTEXTS, prefixes, strict=True):
        engine.clear_caches()
        prefill = _seconds(partial(engine.warm, Context(prefix, "")))
        for n_tokens in FILLS:
            canvas = Canvas(Context(prefix, ""), "", n_tokens, lambda _: None)
            fill = partial(engine.fill, [canvas], Draws())
            times = []
            for limits in (drafting, Limits(n_draft=0)):
                engine.limits = limits
                times.append(min(_seconds(fill) for _ in range(3)))
            found.append(Grown(n_threads, n_context, n_tokens, prefill, *times))
        print(f"{n_threads} threads, {n_context} tokens", file=sys.stderr)
    return found


def memory_rate() -> float:
    """Return the bytes a second at which a tensor larger than any cache is read."""
    large = torch.ones(256 << 20, dtype=torch.uint8).view(torch.int64)
    return large.nbytes / min(_seconds(large.sum) for _ in range(5))


def arithmetic_rate() -> float:
    """Return the operations a second of large products of the chosen kernel."""
    size = 4096
    linear = pack_quickest(torch.randn(size, 896))
    rows = torch.randn(512, 896)
    return 2 * size * 896 * 512 / min(_seconds(lambda: linear(rows)) for _ in range(9))


def _pass(engine: Engine, n_rows: int) -> float:
    model, cache = engine.model, engine.model.new_cache()
    _fill_cache(engine, cache)
    rows = Rows(torch.arange(n_rows), torch.arange(PREFILL, PREFILL + n_rows), cache)
    return min(_seconds(lambda: model.logits(model.forward([rows]))) for _ in range(9))


def _prefill(engine: Engine) -> float:
    return _seconds(lambda: _fill_cache(engine, engine.model.new_cache()))


def _fill_cache(engine: Engine, cache: KVCache) -> None:
    cache.reserve(PREFILL)
    for part in torch.arange(PREFILL).split(128):
        rows = Rows(part % engine.model.facts.vocabulary, part, cache)
        engine.model.read([rows])
        cache.keep(part.tolist())


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def table(rows: Sequence[Pass] | Sequence[Grown]) -> str:
    """Return rows as a Markdown table."""
    names = [name.replace("_", " ") for name in rows[0]._fields]
    lines = [names, ["---"] * len(names)]
    lines += [
        [str(value) if isinstance(value, int) else f"{value:.3g}" for value in row]
        for row in rows
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plot(passes: Sequence[Pass], grown: Sequence[Grown], path: Path) -> None:
    """Draw passes over their floor, and the gain of drafting where it vanishes."""
    from matplotlib.figure import Figure  # takes a second, and only plots need it

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    few = [each for each in passes if each.rows != PREFILL]
    for name, label in (
        ("measured", "measured"),
        ("floor", "floor of this machine"),
        ("laptop_floor", "floor of a laptop, 50 GB/s"),
    ):
        values = [getattr(each, name) for each in few]
        left.plot([each.rows for each in few], values, "o-", label=label)
    left.set(xlabel="rows of a pass", ylabel="milliseconds", ylim=0)
    for n_threads in sorted({each.threads for each in grown}):
        for n_tokens, style in zip(FILLS, (":", "--", "-"), strict=True):
            own = [e for e in grown if (e.threads, e.tokens) == (n_threads, n_tokens)]
            gains = [
                (each.prefill + each.one_at_a_time) / (each.prefill + each.drafting)
                for each in own
            ]
            label = f"{n_tokens} tokens, {n_threads} threads"
            right.plot([e.context for e in own], gains, style, marker="o", label=label)
    right.axhline(1, color="gray", linewidth=0.8)
    right.set(
        xscale="log", xlabel="tokens of context, computed anew", ylabel="times as fast"
    )
    right.set_xticks(CONTEXTS, map(str, CONTEXTS))
    right.minorticks_off()
    for panel in (left, right):
        panel.grid(alpha=0.3)
        panel.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
