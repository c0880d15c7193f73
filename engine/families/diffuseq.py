"""DiffuSeq: Gaussian diffusion of word vectors under a BERT encoder (arXiv 2210.08933).

Names, formulas and numbers are those of github.com/Shark-NLP/DiffuSeq, its sampler the
deterministic one (DDIM) that rounds every estimate to the nearest word.
"""

from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as functional
from torch import Tensor

from niello.engine.load import load_config
from niello.infill.errors import ModelError

from .decoder import Attention, Decoder, Layer, Norm, rotary_frequencies
from .decoding import Sampling
from .embedded import Denoising
from .load import Place
from .style import layer_norm
from .weights import Weights, affine

_LAYER = "input_transformers.layer.{}."


class DiffuSeq:
    """The denoiser and its sampler."""

    n_context = 0

    def __init__(self, folder: Path, place: Place, n_passes: int = 64) -> None:
        """Read ``folder``, whose config.json holds the published training_args.json."""
        config = load_config(folder)
        if config.get("noise_schedule") != "sqrt" or not config.get("predict_xstart"):
            raise ModelError(f"{folder}: only DiffuSeq's own noise schedule is known")
        self._weights = weights = Weights(folder, place.device)
        self._words = weights("word_embedding.weight").float()
        self._n_steps = int(config["diffusion_steps"])
        self._stride = max(1, self._n_steps // n_passes)
        self._kept = _kept_share(self._n_steps)
        self._eps = float(config.get("layer_norm_eps", 1e-12))
        self._places = weights("position_embeddings.weight").float()
        self._norm = layer_norm(weights, "LayerNorm", self._eps)
        self._up = _through_tanh(weights, "input_up_proj")
        self._down = _through_tanh(weights, "output_down_proj")
        self._bias = weights("lm_head.bias").float()
        builder = _Builder(
            weights, place, int(config["num_attention_heads"]), self._eps
        )
        n_layers = weights.n_layers(f"{_LAYER}output.dense.weight")
        self.model = Decoder(
            self._words,
            [builder.layer(_LAYER.format(number)) for number in range(n_layers)],
            lambda rows: rows,
            lambda rows: rows,
        )

    def sample(self, token_ids: Tensor, fixed: Tensor, how: Sampling) -> Denoising:
        """Go from noise to word vectors, known places held."""
        known, held = self._words[token_ids], fixed[:, None]
        noise = torch.randn(known.shape, generator=how.generator, device=known.device)
        current = torch.where(held, known, noise)
        for step in range(self._n_steps - 1, -1, -self._stride):
            hidden = yield self._embed(current, step)
            expected = self._nearest(self._down(hidden))
            # As published, the step behind is one of all steps, whatever the stride.
            kept, kept_next = float(self._kept[step + 1]), float(self._kept[step])
            error = (current / kept**0.5 - expected) / (1 / kept - 1) ** 0.5
            drawn = expected * kept_next**0.5 + error * (1 - kept_next) ** 0.5
            current = torch.where(held, known, drawn)
        return functional.linear(current, self._words, self._bias)

    def _embed(self, current: Tensor, step: int) -> Tensor:
        """Return the encoder's input rows: vectors, places and the time, normed."""
        rows = self._up(current) + self._places[: len(current)]
        return self._norm(rows + self._time(step * 1000 / self._n_steps))

    def _time(self, step: float) -> Tensor:
        """Embed a step, counted as one of 1000, by cosines and sines."""
        first, second = (affine(self._weights, f"time_embed.{n}") for n in (0, 2))
        n_waves = self._weights("time_embed.0.weight").shape[1]
        angles = step * rotary_frequencies(10000.0, n_waves).float()
        return second(functional.silu(first(torch.cat([angles.cos(), angles.sin()]))))

    def _nearest(self, rows: Tensor) -> Tensor:
        """Return the word vector nearest to each row."""
        squares = self._words.square().sum(-1)
        return self._words[(squares - 2 * rows @ self._words.T).argmin(-1)]


def _through_tanh(weights: Weights, name: str) -> Callable[[Tensor], Tensor]:
    """Return the map between word vectors and the encoder's width, if they differ."""
    if f"{name}.0.weight" not in weights:
        return _same
    first, second = (affine(weights, f"{name}.{number}") for number in (0, 2))
    return lambda rows: second(first(rows).tanh())


def _kept_share(n_steps: int) -> Tensor:
    """Return how much of the signal's power is left after so many steps, from 0 on."""
    parts = torch.arange(n_steps + 1, dtype=torch.float64) / n_steps
    level = 1 - (parts + 0.0001).sqrt()
    betas = (1 - level[1:] / level[:-1]).clamp(max=0.999)
    return torch.cat([torch.ones(1, dtype=torch.float64), (1 - betas).cumprod(0)])


class _Builder:
    """Puts the layers of a BERT together; its norms stand behind what they norm."""

    def __init__(
        self, weights: Weights, place: Place, n_heads: int, eps: float
    ) -> None:
        self._weights, self._pack = weights, place.pack
        self._n_heads, self._eps = n_heads, eps

    def layer(self, front: str) -> Layer:
        attend = self._attention(f"{front}attention.")
        norm = self._norm(f"{front}attention.output.LayerNorm")
        norm_ffn = self._norm(f"{front}output.LayerNorm")
        up, down = (self._map(f"{front}{n}.dense") for n in ("intermediate", "output"))

        # A layer is added to its input, so the input is taken off here.
        return Layer(
            _same,
            lambda number, rows, batch: norm(rows + attend(number, rows, batch)) - rows,
            _same,
            lambda rows: norm_ffn(rows + down(functional.gelu(up(rows)))) - rows,
        )

    def _attention(self, front: str) -> Attention:
        names = [f"{front}self.{name}" for name in ("query", "key", "value")]
        weight = torch.cat([self._weights(f"{name}.weight") for name in names])
        bias = torch.cat([self._weights(f"{name}.bias") for name in names]).float()
        head_dim = weight.shape[1] // self._n_heads
        out = f"{front}output.dense"
        return Attention(
            self._n_heads,
            self._n_heads,
            head_dim,
            rotary_frequencies(10000.0, 0),
            self._pack(weight),
            bias,
            self._pack(self._weights(f"{out}.weight")),
            self._weights(f"{out}.bias").float(),
        )

    def _norm(self, name: str) -> Norm:
        return layer_norm(self._weights, name, self._eps)

    def _map(self, name: str) -> Callable[[Tensor], Tensor]:
        linear = self._pack(self._weights(f"{name}.weight"))
        bias = self._weights(f"{name}.bias").float()
        return lambda rows: linear(rows) + bias


def _same(rows: Tensor) -> Tensor:
    return rows
