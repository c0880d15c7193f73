"""Tiny random checkpoints in published formats, made with the reference libraries."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from torch import Tensor

from niello.engine.families.decoder import Decoder, Rows
from niello.engine.families.family import Family
from niello.engine.families.load import Place, load_decoder
from niello.engine.families.names import LLAMA, Names
from niello.engine.kernels import pack_float32

CPU = Place(torch.device("cpu"), pack_float32)
TINY: dict[str, Any] = {
    "vocab_size": 97,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 128,
}


def scramble(
    model: torch.nn.Module, seed: int = 0, spread: float = 0.4
) -> torch.nn.Module:
    """Give every parameter and buffer of weights a random value, norms included."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.ndim == 1 and "bias" not in name:
                parameter.copy_(1 + 0.2 * noise)
            else:
                parameter.copy_(noise * (spread if parameter.ndim > 1 else 0.2))
    return model.eval()


def load(folder: Path, names: Names = LLAMA) -> Decoder:
    return load_decoder(folder, names, CPU)


def logits_of(
    model: Decoder, token_ids: Tensor, visible: Tensor | None = None
) -> Tensor:
    positions = torch.arange(len(token_ids))
    rows = Rows(token_ids, positions, model.new_cache(), visible)
    return model.logits(model.forward([rows]))


def some_tokens(n_tokens: int = 13, vocabulary: int = 97, seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(vocabulary, (n_tokens,), generator=generator)


def causal(n_rows: int) -> Tensor:
    return torch.ones(n_rows, n_rows, dtype=torch.bool).tril()


def set_config(folder: Path, **facts: object) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**config, **facts}), "utf-8")


def write_tokenizer(folder: Path, special: dict[str, int], n_plain: int) -> None:
    """Write a byte-level tokenizer of the first ``n_plain`` printable characters."""
    alphabet = sorted(ByteLevel.alphabet())
    # The characters of code first: letters, digits, signs, line feed and blank.
    common = [*(chr(n) for n in range(33, 127)), "Ċ", "Ġ"]
    characters = [*common, *(c for c in alphabet if c not in common)][:n_plain]
    vocabulary = {character: n for n, character in enumerate(characters)}
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = [
        {
            "id": n,
            "content": text,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for text, n in special.items()
    ]
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")


N_PLAIN = 256
SPECIAL = {
    text: N_PLAIN + number
    for number, text in enumerate(
        (
            "<|endoftext|>",
            "<|mask|>",
            "<|expand|>",
            "<|fim_prefix|>",
            "<|fim_suffix|>",
            "<|fim_middle|>",
            "<|im_start|>",
            "<|beginoftext|>",
        )
    )
}


def write_family(
    folder: Path,
    model_type: str,
    seed: int = 0,
    base: type = transformers.Qwen2Config,
    more: dict[str, Any] | None = None,
    **facts: object,
) -> Path:
    """Write a tiny checkpoint of a family that has Qwen2's or Qwen3's tensor names."""
    folder.mkdir(parents=True, exist_ok=True)
    shape = {**TINY, "vocab_size": N_PLAIN + len(SPECIAL), **(more or {})}
    if base is transformers.Qwen2Config:
        shape.pop("head_dim")
    shape["max_position_embeddings"] = 4096
    model = transformers.AutoModelForCausalLM.from_config(base(**shape))
    scramble(model, seed).save_pretrained(folder)
    set_config(
        folder,
        model_type=model_type,
        architectures=[],
        mask_token_id=SPECIAL["<|mask|>"],
        eos_token_id=SPECIAL["<|endoftext|>"],
        bos_token_id=SPECIAL["<|beginoftext|>"],
        **facts,
    )
    write_tokenizer(folder, SPECIAL, N_PLAIN)
    return folder


def load_styled(folder: Path, family: Family) -> Decoder:
    return load_decoder(folder, family.names, CPU, family.style)
