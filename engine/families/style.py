"""How the layers of a family are built where they are not those of a Llama."""

from collections.abc import Callable
from typing import NamedTuple

import torch.nn.functional as functional
from torch import Tensor

from .decoder import FeedForward, Norm, rms_norm
from .weights import Pack, Weights


def plain_norm(weights: Weights, name: str, eps: float) -> Norm:
    """Return Llama's norm."""
    return rms_norm(weights(f"{name}.weight"), eps)


def shifted_norm(weights: Weights, name: str, eps: float) -> Norm:
    """Return Gemma's norm, whose stored weight is what is added to 1."""
    return rms_norm(1 + weights(f"{name}.weight").float(), eps)


def layer_norm(weights: Weights, name: str, eps: float) -> Norm:
    """Return a norm that takes off the mean and adds a bias."""
    weight = weights(f"{name}.weight").float()
    bias = weights(f"{name}.bias").float()
    return lambda rows: functional.layer_norm(rows, weight.shape, weight, bias, eps)


def tanh_gelu(rows: Tensor) -> Tensor:
    """Return GELU by its approximation with tanh."""
    return functional.gelu(rows, approximate="tanh")


def two_maps(weights: Weights, front: str, pack: Pack) -> FeedForward:
    """Return StarCoder2's feed-forward, which has no gate."""
    up, down = (pack(weights(f"{front}mlp.{n}.weight")) for n in ("c_fc", "c_proj"))
    bias_up, bias_down = (
        weights(f"{front}mlp.{n}.bias").float() for n in ("c_fc", "c_proj")
    )
    return lambda rows: down(tanh_gelu(up(rows) + bias_up)) + bias_down


class Style(NamedTuple):
    """The parts of which a family's layers are made."""

    norm: Callable[[Weights, str, float], Norm] = plain_norm
    gate: Callable[[Tensor], Tensor] = functional.silu
    feed_forward: Callable[[Weights, str, Pack], FeedForward] | None = None
    scaled_embedding: bool = False


LLAMA_STYLE = Style()
SHIFTED_STYLE = Style(shifted_norm)
GEMMA_STYLE = Style(shifted_norm, tanh_gelu, scaled_embedding=True)
STARCODER2_STYLE = Style(layer_norm, feed_forward=two_maps)
