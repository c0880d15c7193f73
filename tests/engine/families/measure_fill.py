"""Measures a fill with random weights of a 0.5B shape, cached against uncached.

Run it by hand: PYTHONPATH=src python tests/engine/families/measure_fill.py. What is
measured is time and passes; random weights say nothing about text, and the share of
tokens on which a frozen prefix and suffix change the result is that of random weights.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import save_file

from niello.engine.families.decoding import Decoding
from niello.engine.families.load import Place
from niello.engine.families.open import open_family
from niello.engine.families.run import Seen
from niello.engine.kernels import pack_quickest
from niello.infill.canvas import Canvas, Draws, never
from niello.infill.context import Context

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
from tiny_families import N_PLAIN, SPECIAL, write_tokenizer

WIDTH, FFN, LAYERS, HEADS, KV_HEADS, VOCABULARY = 896, 4864, 24, 14, 2, 151936
N_PREFIX, N_SUFFIX, N_CANVAS = 384, 128, 16


def write_model(folder: Path, model_type: str) -> Path:
    folder.mkdir()
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return (torch.randn(shape, generator=generator) * 0.03).bfloat16()

    tensors = {"model.embed_tokens.weight": random(VOCABULARY, WIDTH)}
    tensors["model.norm.weight"] = torch.ones(WIDTH)
    kv = WIDTH // HEADS * KV_HEADS
    for layer in range(LAYERS):
        front = f"model.layers.{layer}."
        for name, shape in {
            "self_attn.q_proj": (WIDTH, WIDTH),
            "self_attn.k_proj": (kv, WIDTH),
            "self_attn.v_proj": (kv, WIDTH),
            "self_attn.o_proj": (WIDTH, WIDTH),
            "mlp.gate_proj": (FFN, WIDTH),
            "mlp.up_proj": (FFN, WIDTH),
            "mlp.down_proj": (WIDTH, FFN),
        }.items():
            tensors[f"{front}{name}.weight"] = random(*shape)
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"{front}{name}.weight"] = torch.ones(WIDTH)
    save_file(tensors, folder / "model.safetensors")
    config = {
        "model_type": model_type,
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "rms_norm_eps": 1e-6,
        "mask_token_id": SPECIAL["<|mask|>"],
    }
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    write_tokenizer(folder, SPECIAL, N_PLAIN)
    return folder


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def measure(folder: Path, decoding: Decoding) -> list[int]:
    seen: list[Seen] = []
    place = Place(torch.device("cpu"), pack_quickest)
    filler = open_family(folder, decoding, place, seen.append)
    canvas = Canvas(
        Context("x" * N_PREFIX, "y" * N_SUFFIX), "", N_CANVAS, lambda text: None
    )
    for repeat in ("first", "again"):
        start = time.perf_counter()
        ((fill,),) = filler.fill([canvas], Draws(), never)
        seconds = time.perf_counter() - start
        say(
            f"  {repeat}: {fill.forwards} passes, {fill.n_fed} rows computed, "
            f"{fill.n_cached} found kept, {seconds:.1f} s",
        )
    return list(seen[-1].token_ids)


def main() -> None:
    common = Decoding(length="fixed", canvas=N_CANVAS, commit="scheduled")
    with tempfile.TemporaryDirectory() as scratch:
        folder = write_model(Path(scratch) / "mdlm", "a2d-qwen2")
        exact: list[int] = []
        for cache, refresh in ((False, 0), (True, 4), (True, 16)):
            say(f"bidirectional, cache {cache}, refresh {refresh}")
            decoding = common._replace(cache=cache, refresh=refresh)
            token_ids = measure(folder, decoding)
            exact = exact or token_ids
            changed = sum(a != b for a, b in zip(exact, token_ids, strict=True))
            say(f"  {changed} of {len(exact)} tokens differ from the exact fill")
        folder = folder.rename(folder.with_name("bd3lm"))
        for cache in (False, True):
            say(f"block-causal, block 8, cache {cache}")
            measure(folder, common._replace(cache=cache, block=8))


if __name__ == "__main__":
    main()
