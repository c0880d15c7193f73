"""Turns a quantised GGUF file into a folder that is mapped into memory as it is.

The fill adapter is added to the weights on the way: W + B A in float32, then rounded
once to bfloat16. The folder holds `config.json`, `model.safetensors` with Hugging Face
names, `tokenizer.json` and `SHA256SUMS`. Tensors pass through a few rows at a time, so
that memory stays small; nothing here knows where models live or come from.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import gguf
import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from niello.engine.digest import Digests, write_sums
from niello.engine.tensorfile import (
    Floats,
    Planned,
    read_header,
    read_tensor,
    write_tensors,
)
from niello.infill.errors import ModelError

_WEIGHTS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
_TOP = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
# An adapter's tensor covers the maps stacked in this order.
_STACKS = {
    "attn_qkv": ("attn_q", "attn_k", "attn_v"),
    "attn_out": ("attn_output",),
    "ffn_gate_up": ("ffn_gate", "ffn_up"),
    "ffn_down": ("ffn_down",),
}
# How Qwen2 cuts text into words before merging bytes; published with its tokenizer.
_QWEN2_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_NORMAL, _CONTROL, _USER_DEFINED = 1, 3, 4


def convert(
    source: Path,
    adapter: Path | None,
    folder: Path,
    digests: Digests,
    written: Callable[[int, int], None],
) -> None:
    """Write the weights, facts and tokenizer of `source` into an empty folder."""
    try:
        reader = gguf.GGUFReader(source)
    except (ValueError, KeyError, IndexError, OSError) as error:
        raise ModelError(f"{source} is no readable GGUF file: {error}") from None
    config = _config(reader, source)
    tensors = _planned(reader, _load_deltas(adapter) if adapter else {})
    total = sum(tensor.n_bytes for tensor in tensors)
    sums = {
        "model.safetensors": write_tensors(
            folder / "model.safetensors", tensors, lambda done: written(done, total)
        )
    }
    config["special_tokens"] = _write_tokenizer(reader, folder / "tokenizer.json")
    config["niello"] = {
        "source_digest": digests.source,
        "adapter_digest": digests.adapter,
        "format": digests.format,
    }
    _write_json(folder / "config.json", config)
    _write_json(
        folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"}
    )
    write_sums(folder, sums)


class _Delta(NamedTuple):
    """The low-rank term of one map: its rows of B, and A."""

    b: Floats
    a: Floats


def _load_deltas(adapter: Path) -> dict[str, _Delta]:
    """Return the adapter's terms by GGUF tensor name, stacks still whole."""
    entries = read_header(adapter)
    deltas = {}
    for name, entry in entries.items():
        _, layer, stack, kind = name.split(".")
        if kind == "lora_A":
            b = entries[f"layers.{layer}.{stack}.lora_B"]
            deltas[f"{layer}.{stack}"] = _Delta(
                read_tensor(adapter, b), read_tensor(adapter, entry)
            )
    return deltas


def _planned(reader: gguf.GGUFReader, stacks: dict[str, _Delta]) -> list[Planned]:
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    deltas = _unstack(tensors, stacks)
    return [_plan(tensor, deltas.get(name)) for name, tensor in sorted(tensors.items())]


def _unstack(
    tensors: dict[str, gguf.ReaderTensor], stacks: dict[str, _Delta]
) -> dict[str, _Delta]:
    deltas = {}
    for key, delta in stacks.items():
        layer, stack = key.split(".")
        start = 0
        for part in _STACKS[stack]:
            name = f"blk.{layer}.{part}.weight"
            n_in, n_out = (int(length) for length in tensors[name].shape)
            if delta.a.shape[1] != n_in:
                raise ModelError(f"the adapter's layers.{key} does not fit the model")
            deltas[name] = _Delta(delta.b[start : start + n_out], delta.a)
            start += n_out
        if start != len(delta.b):
            raise ModelError(f"the adapter's layers.{key} does not fit the model")
    return deltas


def _plan(tensor: gguf.ReaderTensor, delta: _Delta | None) -> Planned:
    # GGUF writes the innermost length first.
    shape = tuple(int(length) for length in reversed(tensor.shape))

    def rows(start: int, stop: int) -> Floats:
        data = tensor.data[start:stop]
        values = gguf.dequantize(data, tensor.tensor_type).astype(np.float32)
        if delta is not None:
            values = values + delta.b[start:stop] @ delta.a
        return values

    return Planned(
        _hugging_face_name(tensor.name),
        "BF16" if len(shape) > 1 else "F32",
        shape,
        rows,
    )


def _hugging_face_name(name: str) -> str:
    if name in _TOP:
        return _TOP[name]
    try:
        _, layer, part, kind = name.split(".")
        return f"model.layers.{layer}.{_WEIGHTS[part]}.{kind}"
    except (ValueError, KeyError):
        raise ModelError(f"the model has an unknown tensor {name}") from None


def _config(reader: gguf.GGUFReader, source: Path) -> dict[str, object]:
    def field(name: str) -> object:
        if name not in reader.fields:
            raise ModelError(f"{source} does not say its {name}")
        return reader.fields[name].contents()

    architecture = field("general.architecture")
    if architecture != "qwen2":
        raise ModelError(f"{source} holds a {architecture} model, not qwen2")
    names = [tensor.name for tensor in reader.tensors]
    vocabulary = field("tokenizer.ggml.tokens")
    assert isinstance(vocabulary, list), "a vocabulary is a list"
    return {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "hidden_size": field("qwen2.embedding_length"),
        "num_hidden_layers": field("qwen2.block_count"),
        "num_attention_heads": field("qwen2.attention.head_count"),
        "num_key_value_heads": field("qwen2.attention.head_count_kv"),
        "intermediate_size": field("qwen2.feed_forward_length"),
        "max_position_embeddings": field("qwen2.context_length"),
        "vocab_size": len(vocabulary),
        "rope_theta": field("qwen2.rope.freq_base"),
        "rms_norm_eps": field("qwen2.attention.layer_norm_rms_epsilon"),
        "tie_word_embeddings": "output.weight" not in names,
        "attention_bias": "blk.0.attn_q.bias" in names,
        "torch_dtype": "bfloat16",
        "eos_token_id": field("tokenizer.ggml.eos_token_id"),
    }


def _write_tokenizer(reader: gguf.GGUFReader, path: Path) -> dict[str, int]:
    """Write the tokenizer and return the ids of its special tokens.

    Special tokens are in the vocabulary but no merge leads to them and none is an
    added token, so no user text can be encoded to one. Text is not normalised either,
    so that decoding gives back exactly what was encoded.
    """
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    kinds = reader.fields["tokenizer.ggml.token_type"].contents()
    merges = reader.fields["tokenizer.ggml.merges"].contents()
    special_kinds = (_CONTROL, _USER_DEFINED)
    special = {
        token: token_id
        for token_id, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind in special_kinds
    }
    vocabulary = {
        token: token_id
        for token_id, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind == _NORMAL or kind in special_kinds
    }
    pairs = [tuple(merge.split(" ")) for merge in merges]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_QWEN2_WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(path), pretty=False)
    return special


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
