"""DiffusionGemma: a causal Gemma that encodes, and the same weights over a canvas.

Text rows attend causally and are kept; canvas rows, which are given as vectors, attend
to all text and to each other. What differs from the other families: norms before and
after each part, a dense and a mixture feed-forward side by side, windows and rotations
by layer type, keys that double as values, one scale a layer. Facts are those of the
model in transformers (models/diffusion_gemma).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as functional
from torch import Tensor

from niello.engine.kernels import Linear
from niello.engine.load import load_config
from niello.infill.errors import ModelError

from .cache import Cache
from .decoder import (
    Decoder,
    FeedForward,
    Layer,
    Norm,
    Rows,
    attend,
    gated,
    rms_norm,
    rotary_frequencies,
    turn,
)
from .experts import sum_experts
from .load import Place
from .style import tanh_gelu
from .weights import Pack, Weights

_FRONT = "model.decoder."
_SOFT_CAP = 30.0


class CanvasModel:
    """A decoder of text and canvas; implements `Model` of run.py."""

    def __init__(self, decoder: Decoder, combine: FeedForward, norm: Norm) -> None:
        """``combine`` maps what the last pass expected to what is added to a canvas."""
        self._decoder, self._combine, self._norm = decoder, combine, norm

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self._decoder.device

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return self._decoder.vocabulary

    def new_cache(self) -> Cache:
        """Return an empty cache."""
        return self._decoder.new_cache()

    def forward(self, batch: Sequence[Rows]) -> Tensor:
        """Compute text and canvas rows."""
        return self._decoder.forward(batch)

    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states to logits, softly capped."""
        return _SOFT_CAP * (self._decoder.logits(hidden) / _SOFT_CAP).tanh()

    @torch.inference_mode()
    def condition(self, token_ids: Tensor, logits: Tensor | None) -> Tensor:
        """Return a canvas's vectors: its tokens and what the last pass expected."""
        vectors = self._decoder.embed(token_ids.to(self.device))
        if logits is None:
            return self._norm(vectors)
        expected = self._decoder.blend(logits.float().softmax(-1))
        return self._norm(vectors + self._combine(expected))


@dataclass(frozen=True)
class GemmaAttention:
    """Attention with a window, whose keys may double as values; a `Mixer`."""

    head_dim: int
    frequencies: Tensor
    query: Linear
    key: Linear
    value: Linear | None
    out: Linear
    norm_query: Norm
    norm_key: Norm
    norm_value: Norm
    norm_after: Norm
    window: int | None

    def __call__(self, number: int, rows: Tensor, batch: Sequence[Rows]) -> Tensor:
        """Return what attention adds to each row."""
        positions = torch.cat([one.positions for one in batch])
        key = self._heads(self.key(rows))
        value = key if self.value is None else self._heads(self.value(rows))
        query = self.norm_query(self._heads(self.query(rows)))
        query = turn(query, positions, self.frequencies)
        key = turn(self.norm_key(key), positions, self.frequencies)
        value = self.norm_value(value)
        mixed = torch.empty_like(query)
        start = 0
        for one in batch:
            part = slice(start, start + len(one.token_ids))
            keys, values = one.cache.write(
                number, key[part].transpose(0, 1), value[part].transpose(0, 1)
            )
            n_new, n_seen = len(one.token_ids), keys.shape[1]
            mask = self._visible(n_new, n_seen, one.vectors is not None)
            mask = mask.to(query.device)
            mixed[part] = attend(query[part], keys, values, mask, scale=1.0)
            start = part.stop
        return self.norm_after(self.out(mixed.flatten(1)))

    def _heads(self, flat: Tensor) -> Tensor:
        return flat.view(len(flat), -1, self.head_dim)

    def _visible(self, n_new: int, n_seen: int, canvas: bool) -> Tensor:
        """Return who sees whom, ``(new, seen)``; kept rows come first."""
        seen = torch.arange(n_seen)[None]
        new = torch.arange(n_seen - n_new, n_seen)[:, None]
        if canvas:
            # The whole canvas sees the text that its first row's window reaches.
            first = n_seen - n_new
            reach = first - self.window + 1 if self.window else 0
            return (seen >= reach).expand(n_new, -1)
        visible = seen <= new
        return visible & (seen > new - self.window) if self.window else visible


def load_canvas_model(folder: Path, place: Place) -> CanvasModel:
    """Read the text part of a DiffusionGemma checkpoint; images are left out."""
    config = load_config(folder)
    facts = config.get("text_config")
    if not isinstance(facts, dict):
        raise ModelError(f"{folder}: config.json has no text_config")
    weights = Weights(folder, place.device)
    build = _Builder(weights, facts, place.pack)
    embedding = weights(f"{_FRONT}embed_tokens.weight")
    width = embedding.shape[1]
    decoder = Decoder(
        embedding,
        [build.layer(number) for number in range(int(facts["num_hidden_layers"]))],
        build.norm(f"{_FRONT}norm"),
        place.pack(embedding),
        math.sqrt(width),
    )
    front = f"{_FRONT}self_conditioning."
    combine = build.gated(front)
    before = build.norm(f"{front}pre_norm")
    return CanvasModel(
        decoder, lambda rows: combine(before(rows)), build.norm_unscaled(width)
    )


class _Builder:
    """Puts the layers of one checkpoint together."""

    def __init__(self, weights: Weights, facts: Mapping[str, object], pack: Pack):
        self._weights, self._facts, self._pack = weights, facts, pack
        eps = facts["rms_norm_eps"]
        assert isinstance(eps, float)
        self._eps = eps

    def layer(self, number: int) -> Layer:
        front = f"{_FRONT}layers.{number}."
        return Layer(
            self.norm(f"{front}input_layernorm"),
            self._attention(front, number),
            lambda rows: rows,  # The two feed-forward parts have norms of their own.
            self._feed_forward(front),
            self._scale(front, number),
        )

    def norm(self, name: str) -> Norm:
        return rms_norm(self._weights(f"{name}.weight"), self._eps)

    def norm_unscaled(self, width: int) -> Norm:
        return lambda rows: functional.rms_norm(rows, (width,), eps=self._eps)

    def gated(self, front: str) -> FeedForward:
        gate, up, down = (
            self._weights(f"{front}{name}_proj.weight")
            for name in ("gate", "up", "down")
        )
        return gated(self._pack(torch.cat([gate, up])), self._pack(down), tanh_gelu)

    def _attention(self, front: str, number: int) -> GemmaAttention:
        weights, front = self._weights, f"{front}self_attn."
        norm = weights(f"{front}q_norm.weight")
        kinds, ropes = self._facts["layer_types"], self._facts["rope_parameters"]
        assert isinstance(kinds, list)
        assert isinstance(ropes, dict)
        kind = kinds[number]
        window = self._facts["sliding_window"]
        assert isinstance(window, int)
        value = weights.find(f"{front}v_proj.weight")
        return GemmaAttention(
            len(norm),
            _frequencies(ropes[kind], len(norm)),
            self._pack(weights(f"{front}q_proj.weight")),
            self._pack(weights(f"{front}k_proj.weight")),
            None if value is None else self._pack(value),
            self._pack(weights(f"{front}o_proj.weight")),
            self.norm(f"{front}q_norm"),
            self.norm(f"{front}k_norm"),
            self.norm_unscaled(len(norm)),
            self.norm(front.removesuffix("self_attn.") + "post_attention_layernorm"),
            window if kind == "sliding_attention" else None,
        )

    def _feed_forward(self, front: str) -> FeedForward:
        norms = [
            self.norm(f"{front}{name}_layernorm{number}")
            for name, number in (
                ("pre_feedforward", ""),
                ("post_feedforward", "_1"),
                ("pre_feedforward", "_2"),
                ("post_feedforward", "_2"),
                ("post_feedforward", ""),
            )
        ]
        dense, mixture = self.gated(f"{front}mlp."), self._mixture(front)

        def feed_forward(rows: Tensor) -> Tensor:
            left = norms[1](dense(norms[0](rows)))
            right = norms[3](mixture(rows, norms[2](rows)))
            return norms[4](left + right)

        return feed_forward

    def _mixture(self, front: str) -> Callable[[Tensor, Tensor], Tensor]:
        """Return the experts' sum: routed by one view of the rows, fed by another."""
        weights = self._weights
        gate_up = weights(f"{front}experts.gate_up_proj")
        down = weights(f"{front}experts.down_proj")
        experts = [
            gated(self._pack(one), self._pack(other), tanh_gelu)
            for one, other in zip(gate_up, down, strict=True)
        ]
        router = weights(f"{front}router.proj.weight").float()
        scale = weights(f"{front}router.scale").float()
        expert_scale = weights(f"{front}router.per_expert_scale").float()
        unscaled = self.norm_unscaled(len(scale))
        n_picked = self._facts["top_k_experts"]
        assert isinstance(n_picked, int)

        def mixture(routed: Tensor, fed: Tensor) -> Tensor:
            view = unscaled(routed) * scale * len(scale) ** -0.5
            scores, picked = (view @ router.T).softmax(-1).topk(n_picked, -1)
            shares = scores / scores.sum(-1, keepdim=True) * expert_scale[picked]
            return sum_experts(fed, shares, picked, experts)

        return mixture

    def _scale(self, front: str, number: int) -> Callable[..., Tensor]:
        """Return the layer's scale, of which text and canvas have one each."""
        text_front = f"model.encoder.language_model.layers.{number}."
        canvas = self._weights(f"{front}layer_scalar").float()
        text = self._weights.find(f"{text_front}layer_scalar")
        text = canvas if text is None else text.float()

        def scale(hidden: Tensor, batch: Sequence[Rows]) -> Tensor:
            scales = [
                (text if rows.vectors is None else canvas).expand(len(rows.token_ids))
                for rows in batch
            ]
            return hidden * torch.cat(scales)[:, None]

        return scale


def _frequencies(rope: Mapping[str, object], head_dim: int) -> Tensor:
    """Return a layer type's frequencies; a proportional rope turns a part of the head.

    The part turns as fast as it would in a whole turned head; the rest stands still.
    """
    base, part = rope["rope_theta"], rope.get("partial_rotary_factor", 1.0)
    assert isinstance(base, float | int)
    assert isinstance(part, float | int)
    whole = rotary_frequencies(float(base), head_dim)
    n_turned = int(part * head_dim // 2)
    return torch.where(torch.arange(len(whole)) < n_turned, whole, 0.0)
