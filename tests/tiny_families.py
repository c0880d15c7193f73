"""Tiny random checkpoints in published formats, made with the reference libraries."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from niello.engine.families.decoder import Decoder, Rows
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


def scramble(model: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """Give every parameter and buffer of weights a random value, norms included."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.ndim == 1 and "bias" not in name:
                parameter.copy_(1 + 0.2 * noise)
            else:
                parameter.copy_(noise * (0.4 if parameter.ndim > 1 else 0.2))
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
