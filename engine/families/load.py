"""From a published checkpoint to a `Decoder`: safetensors and config.json, no code."""

from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from niello.engine.kernels import Linear
from niello.engine.load import load_config

from .decoder import (
    Attention,
    Decoder,
    FeedForward,
    Layer,
    Mixer,
    Norm,
    gated,
    rotary_frequencies,
)
from .delta import load_delta
from .experts import Route, mix_experts, sigmoid_route, softmax_route
from .names import Names
from .style import LLAMA_STYLE, Style
from .weights import Pack, Shape, Weights


class Place(NamedTuple):
    """Where a model is held and in which number format."""

    device: torch.device
    pack: Pack


def load_decoder(
    folder: Path, names: Names, place: Place, style: Style = LLAMA_STYLE
) -> Decoder:
    """Read the weights of ``folder`` and pack their linear maps for ``place``."""
    shape = Shape(load_config(folder))
    weights = Weights(folder, place.device)
    embedding = weights(names.embedding)
    head = weights.find(names.head)
    if head is None:
        head = embedding
    build = _LayerBuilder(shape, weights, names, place.pack, style)
    return Decoder(
        embedding,
        [build.layer(number) for number in range(shape.count("n_layers"))],
        build.norm(names.norm_out.removesuffix(".weight")),
        place.pack(head),
        embedding.shape[1] ** 0.5 if style.scaled_embedding else 1.0,
    )


class _LayerBuilder:
    """Puts the layers of one checkpoint together."""

    def __init__(
        self,
        shape: Shape,
        weights: Weights,
        names: Names,
        pack: Pack,
        style: Style,
    ) -> None:
        self._shape, self._weights, self._names = shape, weights, names
        self._pack, self._style = pack, style
        self._eps = shape.number("norm_eps")
        self._n_heads = shape.count("n_heads")
        self._n_kv_heads = shape.count("n_kv_heads", self._n_heads) or self._n_heads
        head_dim = shape.value("head_dim") or shape.count("width") // self._n_heads
        assert isinstance(head_dim, int)
        self._head_dim = head_dim
        n_turned = int(head_dim * shape.number("turned_part", 1.0))
        base = shape.number("rope_base", 10000.0)
        self._frequencies = rotary_frequencies(base, n_turned) / shape.rope_factor

    def layer(self, number: int) -> Layer:
        front = self._names.layer.format(number)
        return Layer(
            self.norm(f"{front}{self._names.norm_in}"),
            self._mixer(front),
            self.norm(f"{front}{self._names.norm_ffn}"),
            self._feed_forward(front),
        )

    def norm(self, name: str) -> Norm:
        return self._style.norm(self._weights, name, self._eps)

    def _mixer(self, front: str) -> Mixer:
        if f"{front}linear_attn.out_proj.weight" in self._weights:
            return load_delta(
                self._weights, f"{front}linear_attn.", self._shape, self._pack
            )
        return self._attention(front)

    def _attention(self, front: str) -> Attention:
        names, weights = self._names, self._weights
        norm_query = weights.find(f"{front}{names.norm_query}.weight")
        weight, bias = self._qkv(front)
        gate = None
        n_query = self._n_heads * self._head_dim
        n_key = self._n_kv_heads * self._head_dim
        if len(weight) == 2 * n_query + 2 * n_key:
            # Each head's query is followed by its gate.
            doubled = weight[: 2 * n_query].view(self._n_heads, 2, self._head_dim, -1)
            query, gates = doubled[:, 0].flatten(0, 1), doubled[:, 1].flatten(0, 1)
            weight = torch.cat([query, weight[2 * n_query :]])
            gate = self._pack(gates)
        return Attention(
            self._n_heads,
            self._n_kv_heads,
            self._head_dim,
            self._frequencies,
            self._pack(weight),
            bias,
            self._pack(weights(f"{front}{names.attn_out}.weight")),
            weights.find(f"{front}{names.attn_out}.bias"),
            None if norm_query is None else self.norm(f"{front}{names.norm_query}"),
            None if norm_query is None else self.norm(f"{front}{names.norm_key}"),
            # OLMoE norms all heads at once, the others each head.
            norm_query is not None and len(norm_query) != self._head_dim,
            gate,
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
            own = self._style.feed_forward
            return own(weights, front, self._pack) if own else self._gated(front)
        inner = names.gate.rpartition(".")[0] + "."
        experts = [
            self._gated(front + names.expert.format(number), inner)
            for number in range(self._shape.count("n_experts"))
        ]
        return mix_experts(
            # Routing decides between near equals, so it stays in float32.
            _float32_map(weights(f"{front}{names.router}.weight")),
            self._route(front),
            experts,
            self._shared(front, inner),
        )

    def _shared(self, front: str, inner: str) -> FeedForward | None:
        """Return the expert that every row uses, behind its own gate if it has one."""
        weights, name = self._weights, f"{front}{self._names.shared}"
        if f"{name}{self._names.gate.removeprefix(inner)}.weight" not in weights:
            return None
        expert = self._gated(name, inner)
        gate = weights.find(f"{name.removesuffix('.')}_gate.weight")
        if gate is None:
            return expert
        open_by = _float32_map(gate)
        return lambda rows: expert(rows) * open_by(rows).sigmoid()

    def _gated(self, front: str, dropped: str = "") -> FeedForward:
        gate, up, down = (
            self._weights(f"{front}{name.removeprefix(dropped)}.weight")
            for name in (self._names.gate, self._names.up, self._names.down)
        )
        return gated(
            self._pack(torch.cat([gate, up])), self._pack(down), self._style.gate
        )

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
