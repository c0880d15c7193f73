"""From a model folder to a `Transformer`: config.json and model.safetensors, no code.

Tensor names are the published ones of the Llama and Qwen2 families.
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

from niello.infill.errors import ModelError

from .attention import onednn_pays
from .ends import load_ends
from .kernels import Kernel, Linear
from .mask_mode import fits, load_mask_mode
from .model import Facts, Layer, Transformer
from .tensorfile import check_safetensors
from .timings import remembered

_MASK_MODE, _ENDS = "mask_mode.safetensors", "ends.safetensors"

Config = dict[str, Any]


def load_config(folder: Path) -> Config:
    """Return the folder's config.json."""
    try:
        config: Config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder}: no readable config.json ({error})") from error
    return config


def load_transformer(folder: Path, kernel: Kernel) -> Transformer:
    """Read the weights of ``folder`` and pack its linear maps with ``kernel``."""
    facts = read_facts(load_config(folder))
    path = folder / "model.safetensors"
    check_safetensors(path)
    # A file that is opened anew for each layer keeps few of its pages in memory, as
    # long as no tensor of it is kept: what is not packed is copied.
    layers = [_load_layer(path, i, kernel) for i in range(facts.n_layers)]
    with safe_open(path, framework="pt") as file:
        read = file.get_tensor
        embedding = read("model.embed_tokens.weight").clone()
        tied = "lm_head.weight" not in set(file.keys())
        head = embedding if tied else read("lm_head.weight")
        norm_out = read("model.norm.weight").to(torch.float32, copy=True)
        model = Transformer(facts, embedding, layers, norm_out, kernel.pack(head))
    heads = (facts.n_heads, facts.n_kv_heads, facts.head_dim)
    what = "oneDNN attends with {} to {} heads of {}".format(*heads)
    model.onednn = remembered(what, bool, lambda: onednn_pays(*heads))
    return model


def load_masks(folder: Path, model: Transformer, kernel: Kernel) -> int:
    """Give a model its mask mode; return the most masks of a block, 0 without one."""
    digest = _adapter_digest(folder)
    path = _trained_on(digest, _MASK_MODE)
    if path is None:
        return 0
    with safe_open(folder / "model.safetensors", framework="pt") as file:
        head = file.get_tensor("lm_head.weight")
    n_layers = model.facts.n_layers
    masks, sampler = load_mask_mode(path, digest, n_layers, head, kernel)
    model.add_masks(masks, sampler)
    return masks.n_most


def load_judge(folder: Path, model: Transformer) -> None:
    """Give a model its end judge, if it has one."""
    if path := _trained_on(_adapter_digest(folder), _ENDS):
        model.ends = load_ends(path)


def _adapter_digest(folder: Path) -> str:
    digest: str = load_config(folder).get("niello", {}).get("adapter_digest", "")
    return digest


def _trained_on(adapter_digest: str, name: str) -> Path | None:
    """Return a shipped file if it was trained on this fill adapter.

    Such files are the default model's own: any other drafts by look-up alone, and ends
    where it says.
    """
    path = Path(str(files("niello.engine") / "weights" / name))
    return path if path.is_file() and fits(path, adapter_digest) else None


def read_facts(config: Config) -> Facts:
    """Return the shape that a Hugging Face config describes."""
    rope: Config = config.get("rope_parameters") or {}  # where newer configs keep it
    try:
        n_heads = config["num_attention_heads"]
        return Facts(
            n_layers=config["num_hidden_layers"],
            width=config["hidden_size"],
            n_heads=n_heads,
            n_kv_heads=config.get("num_key_value_heads") or n_heads,
            head_dim=config.get("head_dim") or config["hidden_size"] // n_heads,
            rope_base=config.get("rope_theta") or rope.get("rope_theta", 10000.0),
            norm_eps=config["rms_norm_eps"],
            vocabulary=config["vocab_size"],
        )
    except KeyError as error:
        raise ModelError(f"config.json has no {error}; is it a decoder?") from error


def _load_layer(path: Path, number: int, kernel: Kernel) -> Layer:
    projections = ("q_proj", "k_proj", "v_proj")
    with safe_open(path, framework="pt") as file:
        names = set(file.keys())

        def stack(part: str, *maps: str) -> Tensor:
            front = f"model.layers.{number}.{part}"
            return torch.cat([file.get_tensor(f"{front}{name}") for name in maps])

        def pack(part: str, *maps: str) -> Linear:
            return kernel.pack(stack(part, *(f"{name}.weight" for name in maps)))

        has_bias = f"model.layers.{number}.self_attn.q_proj.bias" in names
        return Layer(
            norm_in=stack("input_layernorm.", "weight").float(),
            qkv=pack("self_attn.", *projections),
            qkv_bias=stack("self_attn.", *(f"{p}.bias" for p in projections)).float()
            if has_bias
            else None,
            attn_out=pack("self_attn.", "o_proj"),
            norm_ffn=stack("post_attention_layernorm.", "weight").float(),
            gate_up=pack("mlp.", "gate_proj", "up_proj"),
            down=pack("mlp.", "down_proj"),
        )
