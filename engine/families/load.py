"""From a published checkpoint to a `Decoder`: safetensors and config.json, no code."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import safe_open
from torch import Tensor

from niello.engine.kernels import Linear
from niello.engine.load import load_config
from niello.engine.tensorfile import read_header
from niello.infill.errors import ModelError

from .decoder import (
    Attention,
    Decoder,
    FeedForward,
    Layer,
    rms_norm,
    rotary_frequencies,
    swiglu,
)
from .experts import Route, mix_experts, sigmoid_route, softmax_route
from .names import FACTS, Names

Pack = Callable[[Tensor], Linear]


class Place(NamedTuple):
    """Where a model is held and in which number format."""

    device: torch.device
    pack: Pack


class Weights:
    """The tensors of a folder by their published names."""

    def __init__(self, folder: Path, device: torch.device) -> None:
        """Read the headers of all *.safetensors files; tensors are read when asked."""
        self._device = device
        self._files: dict[str, Callable[[str], Tensor]] = {}
        self._folder = folder
        for path in sorted(folder.glob("*.safetensors")):
            read: Callable[[str], Tensor] = safe_open(path, "pt").get_tensor
            self._files.update(dict.fromkeys(read_header(path), read))
        if not self._files:
            raise ModelError(f"{folder}: no *.safetensors; fetch the model again")

    def __contains__(self, name: str) -> bool:
        """Tell whether the folder holds a tensor."""
        return name in self._files

    def __call__(self, name: str) -> Tensor:
        """Return a tensor on the device."""
        if name not in self._files:
            raise ModelError(f"{self._folder}: no tensor {name}; is it another family?")
        return self._files[name](name).to(self._device)

    def find(self, name: str) -> Tensor | None:
        """Return a tensor if it is there."""
        return self(name) if name in self else None


class Shape:
    """Facts of a config under their many published names."""

    def __init__(self, config: Mapping[str, object]) -> None:
        """Take what a config says; rope's facts may stand in a table of their own."""
        rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
        assert isinstance(rope, dict)
        kind = rope.get("rope_type", rope.get("type", "default"))
        if kind != "default":
            raise ModelError(f"config.json asks for rope_type {kind!r}: not supported")
        self._config = {**rope, **{k: v for k, v in config.items() if v is not None}}

    def number(self, fact: str, default: float | None = None) -> float:
        """Return a fact as a number."""
        for name in FACTS[fact]:
            value = self._config.get(name)
            if isinstance(value, (int, float)) and value != -1:
                return value
        if default is None:
            raise ModelError(f"config.json has no {FACTS[fact][0]}; is it a decoder?")
        return default

    def count(self, fact: str, default: int | None = None) -> int:
        """Return a fact as a whole number."""
        return int(self.number(fact, default))

    def value(self, name: str) -> object:
        """Return what the config says under a name of its own, None if nothing."""
        return self._config.get(name)


def load_decoder(folder: Path, names: Names, place: Place) -> Decoder:
    """Read the weights of ``folder`` and pack their linear maps for ``place``."""
    shape = Shape(load_config(folder))
    weights = Weights(folder, place.device)
    embedding = weights(names.embedding)
    head = weights.find(names.head)
    if head is None:
        head = embedding
    build = _LayerBuilder(shape, weights, names, place.pack)
    return Decoder(
        embedding,
        [build.layer(number) for number in range(shape.count("n_layers"))],
        rms_norm(weights(names.norm_out), shape.number("norm_eps")),
        place.pack(head),
    )


class _LayerBuilder:
    """Puts the layers of one checkpoint together."""

    def __init__(
        self, shape: Shape, weights: Weights, names: Names, pack: Pack
    ) -> None:
        self._shape, self._weights, self._names = shape, weights, names
        self._pack = pack
        self._eps = shape.number("norm_eps")
        self._n_heads = shape.count("n_heads")
        self._n_kv_heads = shape.count("n_kv_heads", self._n_heads) or self._n_heads
        head_dim = shape.value("head_dim") or shape.count("width") // self._n_heads
        assert isinstance(head_dim, int)
        self._head_dim = head_dim
        n_turned = int(head_dim * shape.number("turned_part", 1.0))
        self._frequencies = rotary_frequencies(
            shape.number("rope_base", 10000.0), n_turned
        )

    def layer(self, number: int) -> Layer:
        front = self._names.layer.format(number)
        return Layer(
            rms_norm(self._weights(f"{front}{self._names.norm_in}.weight"), self._eps),
            self._attention(front),
            rms_norm(self._weights(f"{front}{self._names.norm_ffn}.weight"), self._eps),
            self._feed_forward(front),
        )

    def _attention(self, front: str) -> Attention:
        names, weights = self._names, self._weights
        norm_query = weights.find(f"{front}{names.norm_query}.weight")
        norm_key = weights.find(f"{front}{names.norm_key}.weight")
        weight, bias = self._qkv(front)
        return Attention(
            self._n_heads,
            self._n_kv_heads,
            self._head_dim,
            self._frequencies,
            self._pack(weight),
            bias,
            self._pack(weights(f"{front}{names.attn_out}.weight")),
            weights.find(f"{front}{names.attn_out}.bias"),
            None if norm_query is None else rms_norm(norm_query, self._eps),
            None if norm_key is None else rms_norm(norm_key, self._eps),
            # OLMoE norms all heads at once, the others each head.
            norm_query is not None and len(norm_query) != self._head_dim,
        )

    def _qkv(self, front: str) -> tuple[Tensor, Tensor | None]:
        """Return the stacked weight and bias of query, key and value."""
        names, weights = self._names, self._weights
        if f"{front}{names.qkv}.weight" in weights:
            bias = weights.find(f"{front}{names.qkv}.bias")
            return weights(f"{front}{names.qkv}.weight"), _float(bias)
        maps = [front + name for name in (names.query, names.key, names.value)]
        weight = torch.cat([weights(f"{name}.weight") for name in maps])
        if f"{maps[0]}.bias" not in weights:
            return weight, None
        return weight, torch.cat([weights(f"{name}.bias") for name in maps]).float()

    def _feed_forward(self, front: str) -> FeedForward:
        names, weights = self._names, self._weights
        if f"{front}{names.router}.weight" not in weights:
            return self._swiglu(front)
        inner = names.gate.rpartition(".")[0] + "."
        experts = [
            self._swiglu(front + names.expert.format(number), inner)
            for number in range(self._shape.count("n_experts"))
        ]
        shared = f"{front}{names.shared}"
        gate = f"{shared}{names.gate.removeprefix(inner)}.weight"
        return mix_experts(
            # Routing decides between near equals, so it stays in float32.
            _float32_map(weights(f"{front}{names.router}.weight")),
            self._route(front),
            experts,
            self._swiglu(shared, inner) if gate in weights else None,
        )

    def _swiglu(self, front: str, dropped: str = "") -> FeedForward:
        gate, up, down = (
            self._weights(f"{front}{name.removeprefix(dropped)}.weight")
            for name in (self._names.gate, self._names.up, self._names.down)
        )
        return swiglu(self._pack(torch.cat([gate, up])), self._pack(down))

    def _route(self, front: str) -> Route:
        shape = self._shape
        n_picked = shape.count("n_experts_picked")
        bias = self._weights.find(front + self._names.router_bias)
        if shape.value("n_group") is None:
            # LLaDA-MoE publishes the switch empty and never renormalises.
            return softmax_route(n_picked, bool(shape.value("norm_topk_prob")), bias)
        if bias is None:
            bias = torch.zeros(shape.count("n_experts"))
        return sigmoid_route(
            n_picked,
            shape.count("n_groups"),
            shape.count("n_groups_picked"),
            shape.number("route_scale", 1.0),
            bias.float(),
        )


def _float(bias: Tensor | None) -> Tensor | None:
    return None if bias is None else bias.float()


def _float32_map(weight: Tensor) -> Linear:
    weight = weight.float()
    return lambda rows: torch.nn.functional.linear(rows.float(), weight)
