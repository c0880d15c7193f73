"""ELF: a flow from noise to the embeddings of a frozen T5 encoder (arXiv 2605.10938).

Names, formulas and numbers are those of github.com/lillian039/ELF, branch pytorch_elf.
Its checkpoints hold the denoiser only; the encoder that gives known text its vectors
is t5-small, expected in the folder ``encoder``.
"""

import itertools
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as functional
from torch import Tensor

from niello.engine.load import load_config

from .decoder import Attention, Decoder, FeedForward, Layer, rms_norm
from .decoder import rotary_frequencies as frequencies
from .decoding import Sampling
from .embedded import Denoising
from .load import Place
from .style import tanh_gelu
from .t5 import T5Encoder
from .weights import Weights, affine

_N_FREQUENCIES = 256  # of the embedding of times and scales; no config states it
_EPS = 1e-6
_CONTEXT = ("t_emb", "self_cond_cfg", "mode")
_MAPS = ("w12", "w3")


class Elf:
    """The denoiser and its sampler: steps of a stochastic differential equation."""

    def __init__(
        self, folder: Path, place: Place, n_passes: int = 32, gamma: float = 1.5
    ) -> None:
        """Read ``folder``; ``gamma`` is how much noise each step adds anew."""
        config = load_config(folder)
        self._weights = weights = Weights(folder, place.device)
        self._encoder = T5Encoder(folder / "encoder", place.device)
        self._mean = float(config.get("latent_mean", 0.0))
        self._deviation = float(config.get("latent_std", 0.2))
        self._noise = float(config.get("denoiser_noise_scale", 2.0))
        self._t_eps = float(config.get("t_eps", 0.05))
        self._times = (
            float(config.get("denoiser_p_mean", -1.5)),
            float(config.get("denoiser_p_std", 0.8)),
        )
        self._scale = float(config.get("self_cond_cfg_scale", 3.0))
        self._n_passes, self._gamma = n_passes, gamma
        builder = _Builder(weights, place)
        n_layers = weights.n_layers("blocks.{}.norm1.weight")
        self.model = Decoder(
            weights("unembed_kernel").T,
            [builder.layer(f"blocks.{number}.") for number in range(n_layers)],
            lambda rows: rows,
            lambda rows: rows,
        )
        self._context = [weights(f"{name}_tokens")[0].float() for name in _CONTEXT]
        self.n_context = sum(len(tokens) for tokens in self._context)
        self._join = affine(weights, "self_cond_proj")
        self._narrow = weights("text_proj.proj1.weight").float()
        self._widen = affine(weights, "text_proj.proj2")
        self._time = _scalar_map(weights, "t_embedder")
        self._guidance = _scalar_map(weights, "self_cond_cfg_embedder")
        self._norm_out = rms_norm(weights("final_layer.norm_final.weight"), _EPS)
        self._out = affine(weights, "final_layer.linear")

    def sample(self, token_ids: Tensor, fixed: Tensor, how: Sampling) -> Denoising:
        """Go from noise to text, known places held."""
        known = torch.zeros(len(fixed), self._encoder.width, device=fixed.device)
        places = fixed.nonzero()[:, 0]
        if len(places):
            encoded = self._encoder(token_ids[places], places)
            known[places] = (encoded - self._mean) / self._deviation
        held = fixed[:, None]
        times = self._draw_times(how.generator)
        current = torch.where(held, known, self._draw(known, how.generator))
        expected = torch.where(held, known, 0.0)
        for number, (time, next_time) in enumerate(itertools.pairwise(times)):
            # The last step adds no noise.
            if number < self._n_passes - 1:
                kept = min(1.0, max(0.0, 1 - self._gamma * (next_time - time)))
                noise = self._draw(known, how.generator)
                current = torch.where(held, known, kept * current + (1 - kept) * noise)
                time = kept * time
            hidden = yield self._embed(current, expected, time, mode=0.0)
            rows = self._out(self._norm_out(hidden))
            expected = torch.where(held, known, rows)
            speed = (expected - current) / max(1 - time, self._t_eps)
            current = current + (next_time - time) * torch.where(held, 0.0, speed)
        nothing = torch.zeros_like(current)
        hidden = yield self._embed(current, nothing, times[-1], mode=1.0)
        return self._read(hidden)

    def _draw_times(self, generator: torch.Generator) -> list[float]:
        """Draw the times between 0 and 1, closer to the noisy end."""
        mean, deviation = self._times
        drawn = torch.randn(
            self._n_passes - 1, generator=generator, device=generator.device
        )
        inner = torch.sigmoid(drawn * deviation + mean).sort().values
        return [0.0, *inner.tolist(), 1.0]

    def _draw(self, like: Tensor, generator: torch.Generator) -> Tensor:
        noise = torch.randn(like.shape, generator=generator, device=like.device)
        return noise * self._noise

    def _embed(
        self, current: Tensor, expected: Tensor, time: float, mode: float
    ) -> Tensor:
        """Return the rows of a pass: time, guidance and mode, then the text's."""
        rows = functional.linear(
            self._join(torch.cat([current, expected], -1)), self._narrow
        )
        times, scales, modes = self._context
        return torch.cat(
            [
                times + self._time(time),
                scales + self._guidance(self._scale),
                modes * mode,
                self._widen(rows),
            ]
        )

    def _read(self, hidden: Tensor) -> Tensor:
        weights = self._weights
        inner = tanh_gelu(hidden @ weights("proj_kernel") + weights("proj_bias"))
        return inner @ weights("unembed_kernel") + weights("unembed_bias")


def _scalar_map(weights: Weights, name: str) -> Callable[[float], Tensor]:
    """Return what embeds a number by cosines and sines of falling frequency."""
    inner, outer = (affine(weights, f"{name}.mlp_{number}") for number in (0, 2))

    def embed(value: float) -> Tensor:
        angles = value * frequencies(10000.0, _N_FREQUENCIES).float()
        return outer(functional.silu(inner(torch.cat([angles.cos(), angles.sin()]))))

    return embed


class _Builder:
    """Puts the layers of one checkpoint together."""

    def __init__(self, weights: Weights, place: Place) -> None:
        self._weights, self._pack = weights, place.pack

    def layer(self, front: str) -> Layer:
        weights = self._weights
        return Layer(
            rms_norm(weights(f"{front}norm1.weight"), _EPS),
            self._attention(f"{front}attn."),
            rms_norm(weights(f"{front}norm2.weight"), _EPS),
            self._feed_forward(f"{front}mlp."),
        )

    def _attention(self, front: str) -> Attention:
        weights = self._weights
        norms = [weights(f"{front}{name}_norm.weight") for name in ("q", "k")]
        head_dim = len(norms[0])
        qkv, bias = weights(f"{front}qkv.weight"), weights(f"{front}qkv.bias").float()
        n_heads = len(qkv) // (3 * head_dim)
        # Neighbours turn together there, element i with i + half here.
        order = torch.cat([torch.arange(0, head_dim, 2), torch.arange(1, head_dim, 2)])
        heads = torch.arange(2 * n_heads)[:, None] * head_dim + order
        rows = torch.cat(
            [heads.flatten(), torch.arange(len(heads) * head_dim, len(qkv))]
        )
        return Attention(
            n_heads,
            n_heads,
            head_dim,
            frequencies(10000.0, head_dim),
            self._pack(qkv[rows]),
            bias[rows],
            self._pack(weights(f"{front}proj.weight")),
            weights(f"{front}proj.bias").float(),
            rms_norm(norms[0][order], _EPS),
            rms_norm(norms[1][order], _EPS),
        )

    def _feed_forward(self, front: str) -> FeedForward:
        up, down = (self._pack(self._weights(f"{front}{n}.weight")) for n in _MAPS)
        bias_up, bias_down = (self._weights(f"{front}{n}.bias").float() for n in _MAPS)

        def feed_forward(rows: Tensor) -> Tensor:
            gate, value = (up(rows) + bias_up).chunk(2, -1)
            return down(functional.silu(gate) * value) + bias_down

        return feed_forward
