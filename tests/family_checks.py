"""What every family must show: logits, sampler and a fill from its published format.

golden/NAME.json holds logits that the published code gave once, golden/samplers.json
tokens; both name source and commit. Weights are not kept but written by a formula.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tiny_families import CPU, N_PLAIN, SPECIAL, load, logits_of, write_tokenizer
from torch import Tensor

from niello.engine.families.bidirectional import Bidirectional
from niello.engine.families.blocks import Blocks
from niello.engine.families.decoder import Rows, block_causal
from niello.engine.families.decoding import Decoding
from niello.engine.families.dit import load_dit
from niello.engine.families.embedded import Denoiser, Denoising
from niello.engine.families.family import Family
from niello.engine.families.open import open_family
from niello.engine.families.parts import join
from niello.engine.families.run import Seen
from niello.engine.families.table import FAMILIES, find_family
from niello.engine.families.tokens import Heal
from niello.infill.canvas import Canvas, Draws, Fill, never
from niello.infill.context import Context

GOLDEN = Path(__file__).parent / "engine" / "families" / "golden"
Json = dict[str, Any]
MASK = 60  # of the golden models, whose vocabulary has 61 tokens


def golden(name: str) -> Json:
    content: Json = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    return content


def sampler_cases(*kinds: str) -> list[Json]:
    cases: list[Json] = json.loads((GOLDEN / "samplers.json").read_text("utf-8"))
    return [case for case in cases if case["sampler"].partition(" ")[0] in kinds]


def formula(shape: Sequence[int], index: int, name: str) -> Tensor:
    """Values that look random and need no generator."""
    i = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    values = torch.sin(0.37 * i * i + 1.3 * i + index).reshape(tuple(shape)).float()
    if len(shape) > 1:
        return values * 0.3
    return values * 0.1 if "bias" in name else 1 + 0.2 * values


def write_golden(name: str, folder: Path, **facts: object) -> Path:
    """Write the golden model of a name, or one like it with a larger vocabulary."""
    model = golden(name)
    config = {**model["config"], **facts}
    folder.mkdir(parents=True, exist_ok=True)
    grown = int(config["vocab_size"]) - int(model["config"]["vocab_size"])
    tensors = {}
    for index, tensor in enumerate(sorted(model["tensors"])):
        shape = [
            size + grown if size == model["config"]["vocab_size"] else size
            for size in model["tensors"][tensor]
        ]
        tensors[tensor] = formula(shape, index, tensor)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return folder


def check_logits(name: str, folder: Path) -> None:
    model = golden(name)
    write_golden(name, folder)
    family = find_family(model["config"], name)
    assert family.name == name
    token_ids = torch.tensor(model["token_ids"])
    visible = block_causal(len(token_ids), 4) if family.way == "block" else None
    ours = logits_of(load(folder, family.names), token_ids, visible)
    expected = torch.tensor(model["logits"])
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=0)


class PlainTokens:
    """A vocabulary whose tokens are characters: id n is chr(n + 1)."""

    end_ids: frozenset[int] = frozenset()
    begin_id = delete_id = split_id = None
    window = 1000

    def __init__(self, mask_id: int | None = MASK, end_id: int | None = None) -> None:
        self.mask_id, self.end_id = mask_id, end_id
        self.special_ids = frozenset({mask_id} - {None})

    def encode(self, text: str) -> list[int]:
        return [ord(character) - 1 for character in text]

    def heal(self, given: str) -> Heal:
        return Heal("", ())

    def decode(self, token_ids: Sequence[int]) -> str:
        plain = (i for i in token_ids if i not in self.special_ids)
        return "".join(chr(token_id + 1) for token_id in plain)


def check_sampler(
    case: Json, family: str, decoding: Decoding, folder: Path, names: Any = None
) -> None:
    """Fill by the golden model of a case and compare with its tokens."""
    write_golden(case["model"], folder)
    entry = by_name(family)._replace(
        begins=False,
        ends=False,
        fim=None,
        expand_id=case.get("expand_id"),
        sub_block=case.get("sub_block", 0),
    )
    tokens: Any = PlainTokens(end_id=case.get("delete_id"))
    suffix = tokens.decode(case.get("suffix", []))
    canvas = Canvas(
        Context(tokens.decode(case["prompt"]), suffix),
        "",
        case["room"],
        lambda text: None,
    )
    seen: list[Seen] = []
    filler = Bidirectional if entry.way == "bidirectional" else Blocks
    model = load_dit(folder, CPU) if entry.dit else load(folder, names or entry.names)
    parts = join(model, tokens, entry, decoding, seen.append)
    draws = Draws(1, case.get("temperature", 0.0), case.get("seed", 0))
    filler(parts).fill([canvas], draws, never)
    assert list(seen[-1].token_ids)[: case["room"]] == case["tokens"]
    if "forwards" in case:
        assert seen[-1].forwards == case["forwards"]


def by_name(name: str) -> Family:
    return next(family for family in FAMILIES if family.name == name)


def write_like_golden(name: str, folder: Path, **facts: object) -> Path:
    """Write a golden-like model that has a tokenizer for text."""
    facts = {
        "vocab_size": N_PLAIN + len(SPECIAL),
        "embedding_size": N_PLAIN + len(SPECIAL),
        "max_position_embeddings": 4096,
        "max_sequence_length": 4096,
        "mask_token_id": SPECIAL["<|mask|>"],
        "eos_token_id": SPECIAL["<|endoftext|>"],
        "bos_token_id": SPECIAL["<|beginoftext|>"],
        **facts,
    }
    write_golden(name, folder, **facts)
    write_tokenizer(folder, SPECIAL, N_PLAIN)
    return folder


def check_infill(folder: Path, decoding: Decoding | None = None) -> Fill:
    """Open a published format and fill a canvas between a prefix and a suffix."""
    seen: list[Seen] = []
    filler = open_family(folder, decoding or Decoding(), CPU, seen.append)
    context = Context("def f(a):\n    return ", "\n\nprint(f(1))\n")
    canvas = Canvas(context, "", 12, lambda text: None)
    ((fill,),) = filler.fill([canvas], Draws(), never)
    assert seen
    assert fill.n_tokens <= 12
    assert fill.forwards > 0
    assert not any(text in fill.text for text in SPECIAL)
    return fill


def passed(denoiser: Denoiser, vectors: Tensor) -> Tensor:
    """Return the hidden states of a pass over vectors, without those in front."""
    n_context = denoiser.n_context
    positions = (torch.arange(len(vectors)) - n_context).clamp(min=0)
    rows = Rows(positions, positions, denoiser.model.new_cache(), vectors=vectors)
    return denoiser.model.logits(denoiser.model.forward([rows]))[n_context:]


def driven(denoiser: Denoiser, sample: Denoising) -> Tensor:
    """Answer all passes that a sampler asks for; return its logits."""
    vectors = next(sample)
    try:
        while True:
            vectors = sample.send(passed(denoiser, vectors))
    except StopIteration as done:
        logits: Tensor = done.value
        return logits
