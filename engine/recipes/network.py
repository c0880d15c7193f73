"""The base as the recipes train on it: frozen, bfloat16, one plain PyTorch network.

Written for training throughput on a CPU: contexts run one at a time (their rows fill a
matrix product by themselves), greedy text is drawn for many contexts at once, and the
keys and values of both are kept for the masks that attend to them. Knows nothing of
adapters at mask positions (mask_mode.py) or of data (samples.py).
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from safetensors import safe_open
from torch.nn.functional import linear, scaled_dot_product_attention, silu

N_LAYERS, WIDTH, N_HEADS, N_KV_HEADS, HEAD_DIM = 24, 896, 14, 2, 64
GROUP = N_HEADS // N_KV_HEADS
ROPE_BASE, RMS_EPS = 1e6, 1e-6
LINEAR_SHAPES = {  # name: (out, in), in the order of the adapter files
    "attn_qkv": ((N_HEADS + 2 * N_KV_HEADS) * HEAD_DIM, WIDTH),
    "attn_out": (WIDTH, WIDTH),
    "ffn_gate_up": (2 * 4864, WIDTH),
    "ffn_down": (WIDTH, 4864),
}


Attend = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""From queries, keys, values (rows, heads, dim) to what rows take in (rows, width)."""

Apply = Callable[[torch.Tensor, torch.Tensor, int, str], torch.Tensor]
"""Rows through a linear map, given its weight, its layer and its name."""


@dataclass
class Layer:
    """The frozen weights of one layer; query, key, value and gate, up are stacked."""

    attn_norm: torch.Tensor
    attn_qkv: torch.Tensor
    attn_qkv_bias: torch.Tensor
    attn_out: torch.Tensor
    ffn_norm: torch.Tensor
    ffn_gate_up: torch.Tensor
    ffn_down: torch.Tensor


@dataclass
class Base:
    """The frozen base with the fill adapter merged."""

    embedding: torch.Tensor
    head: torch.Tensor
    norm: torch.Tensor
    layers: list[Layer]
    digests: dict[str, str] = field(default_factory=dict)


class Cache:
    """Keys and values of a batch of contexts, aligned to their common right edge."""

    def __init__(self, contexts: list[tuple[torch.Tensor, torch.Tensor]], room: int):
        """Pack the contexts' keys and values and leave ``room`` for drawn tokens."""
        self.lengths = torch.tensor([keys.shape[2] for keys, _ in contexts])
        self.edge = self.filled = int(self.lengths.max())
        first = contexts[0][0]
        shape = (N_LAYERS, len(contexts), N_KV_HEADS, self.edge + room, HEAD_DIM)
        self.keys, self.values = first.new_zeros(shape), first.new_zeros(shape)
        for row, (keys, values) in enumerate(contexts):
            start = self.edge - keys.shape[2]
            self.keys[:, row, :, start : self.edge] = keys
            self.values[:, row, :, start : self.edge] = values

    def row(self, row: int, n_drawn: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return one context's keys and values, with ``n_drawn`` tokens after it."""
        part = slice(self.edge - int(self.lengths[row]), self.edge + n_drawn)
        return self.keys[:, row, :, part].clone(), self.values[:, row, :, part].clone()


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Normalise in float32, as the published model does."""
    y = x.float()
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + RMS_EPS)
    return (y * weight.float()).to(x.dtype)


def rotate(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Turn (rows, heads, dim) by the rotary angle of each row's position."""
    steps = torch.arange(0, HEAD_DIM, 2, device=x.device) / HEAD_DIM
    angles = positions.float()[:, None, None] * (ROPE_BASE**-steps)  # (rows, 1, 32)
    cos, sin = angles.cos(), angles.sin()
    a, b = x.float().chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype)


def split_heads(
    qkv: torch.Tensor, positions: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return rotated queries and keys and the values, each (rows, heads, dim)."""
    heads = qkv.view(len(qkv), -1, HEAD_DIM)
    q, k, v = heads.tensor_split([N_HEADS, N_HEADS + N_KV_HEADS], dim=1)
    return rotate(q, positions), rotate(k, positions), v


@torch.no_grad()
def read_context(
    base: Base, token_ids: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Run one context causally: keys, values (layers, heads, time, dim), hidden."""
    positions = torch.arange(len(token_ids), device=token_ids.device)
    x = base.embedding[token_ids]
    all_keys, all_values = [], []

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        all_keys.append(k.transpose(0, 1))
        all_values.append(v.transpose(0, 1))
        return attend_causally(q, k, v)

    for index, layer in enumerate(base.layers):
        x = run_layer(x, layer, index, positions, attend, apply_frozen)
    return torch.stack(all_keys), torch.stack(all_values), rms_norm(x, base.norm)


def run_layer(
    x: torch.Tensor,
    layer: Layer,
    index: int,
    positions: torch.Tensor,
    attend: Attend,
    apply: Apply,
) -> torch.Tensor:
    """Run one layer on (rows, width); who attends to what is the caller's matter."""
    qkv = apply(rms_norm(x, layer.attn_norm), layer.attn_qkv, index, "attn_qkv")
    mixed = attend(*split_heads(qkv + layer.attn_qkv_bias, positions))
    x = x + apply(mixed, layer.attn_out, index, "attn_out")
    normed = rms_norm(x, layer.ffn_norm)
    gate, up = apply(normed, layer.ffn_gate_up, index, "ffn_gate_up").chunk(2, dim=-1)
    return x + apply(silu(gate) * up, layer.ffn_down, index, "ffn_down")


def apply_frozen(
    x: torch.Tensor, weight: torch.Tensor, index: int, name: str
) -> torch.Tensor:
    """Apply a linear map as it is."""
    return linear(x, weight)


def attend_causally(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Let every row see the rows up to itself; (rows, width)."""
    mixed = scaled_dot_product_attention(
        q.transpose(0, 1)[None],
        k.repeat_interleave(GROUP, 1).transpose(0, 1)[None],
        v.repeat_interleave(GROUP, 1).transpose(0, 1)[None],
        is_causal=True,
    )[0]
    return mixed.transpose(0, 1).reshape(len(q), WIDTH)


@torch.no_grad()
def draw_greedy(
    base: Base, cache: Cache, hidden: torch.Tensor, n_most: int, ends: set[int]
) -> list[list[int]]:
    """Draw each context's greedy text to an end token (kept) or ``n_most`` tokens.

    ``hidden`` is the last hidden state of each context, (rows, width). Afterwards the
    cache holds keys and values of all drawn tokens but the last of each text.
    """
    next_ids = linear(hidden, base.head).argmax(-1)
    texts: list[list[int]] = [[int(t)] for t in next_ids]
    for step in range(n_most - 1):
        live = [row for row, text in enumerate(texts) if text[-1] not in ends]
        if not live:
            break
        rows = torch.tensor(live, device=hidden.device)
        positions = cache.lengths.to(hidden.device)[rows] + step
        hidden = _step(base, cache, next_ids[rows], positions, rows)
        next_ids[rows] = linear(hidden, base.head).argmax(-1)
        for row in live:
            texts[row].append(int(next_ids[row]))
    return texts


def _step(
    base: Base,
    cache: Cache,
    token_ids: torch.Tensor,
    positions: torch.Tensor,
    rows: torch.Tensor,
) -> torch.Tensor:
    """Feed one token to each of the live rows and return the last hidden states."""
    columns = torch.arange(cache.filled + 1, device=rows.device)
    starts = cache.edge - cache.lengths.to(rows.device)[rows]
    closed = columns[None, None, None, :] < starts[:, None, None, None]
    x = base.embedding[token_ids]
    for index, layer in enumerate(base.layers):
        attend = partial(_attend_to_cache, cache, index, rows, ~closed)
        x = run_layer(x, layer, index, positions, attend, apply_frozen)
    cache.filled += 1
    return rms_norm(x, base.norm)


def _attend_to_cache(
    cache: Cache,
    index: int,
    rows: torch.Tensor,
    open_columns: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
) -> torch.Tensor:
    keys, values = cache.keys[index], cache.values[index]
    keys[rows, :, cache.filled] = k
    values[rows, :, cache.filled] = v
    mixed = scaled_dot_product_attention(
        q.view(-1, N_KV_HEADS, GROUP, HEAD_DIM),  # a group's heads stand as time would
        keys[rows, :, : cache.filled + 1],
        values[rows, :, : cache.filled + 1],
        attn_mask=open_columns,
    )
    return mixed.reshape(len(q), WIDTH)


def load_base(gguf: Path, adapter: Path | None, device: str) -> Base:
    """Read the default model's GGUF, merge the fill adapter, round to bfloat16."""
    tensors = {tensor.name: tensor for tensor in GGUFReader(gguf).tensors}

    def read(name: str) -> torch.Tensor:
        tensor = tensors[name]
        return torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())

    def stack(index: int, names: tuple[str, ...], kind: str = "weight") -> torch.Tensor:
        return torch.cat([read(f"blk.{index}.{name}.{kind}") for name in names])

    def place(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(device, torch.bfloat16).contiguous()

    layers = []
    for index in range(N_LAYERS):
        maps = {
            "attn_qkv": stack(index, ("attn_q", "attn_k", "attn_v")),
            "attn_out": stack(index, ("attn_output",)),
            "ffn_gate_up": stack(index, ("ffn_gate", "ffn_up")),
            "ffn_down": stack(index, ("ffn_down",)),
        }
        if adapter is not None:
            _merge(maps, adapter, index)
        layers.append(
            Layer(
                attn_norm=place(read(f"blk.{index}.attn_norm.weight")),
                attn_qkv_bias=place(
                    stack(index, ("attn_q", "attn_k", "attn_v"), "bias")
                ),
                ffn_norm=place(read(f"blk.{index}.ffn_norm.weight")),
                **{name: place(weight) for name, weight in maps.items()},
            )
        )
    digests = {"base_sha256": digest(gguf)}
    if adapter is not None:
        digests["adapter_sha256"] = digest(adapter)
    return Base(
        embedding=place(read("token_embd.weight")),
        head=place(read("output.weight")),
        norm=place(read("output_norm.weight")),
        layers=layers,
        digests=digests,
    )


def _merge(maps: dict[str, torch.Tensor], adapter: Path, index: int) -> None:
    with safe_open(adapter, "pt") as file:
        for name, weight in maps.items():
            down = file.get_tensor(f"layers.{index}.{name}.lora_A").float()
            up = file.get_tensor(f"layers.{index}.{name}.lora_B").float()
            weight += up @ down


def digest(path: Path) -> str:
    """Return a file's sha256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
