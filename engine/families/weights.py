"""Tensors and facts of a published checkpoint, under the names it gives them."""

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
import torch.nn.functional as functional
from safetensors import safe_open
from torch import Tensor

from niello.engine.kernels import Linear
from niello.engine.tensorfile import read_header
from niello.infill.errors import ModelError

from .names import FACTS

Pack = Callable[[Tensor], Linear]


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

    def n_layers(self, name: str) -> int:
        """Return how many numbers from 0 on fill in a tensor's name."""
        return next(n for n in itertools.count() if name.format(n) not in self)

    def find(self, name: str) -> Tensor | None:
        """Return a tensor if it is there."""
        return self(name) if name in self else None


def affine(weights: Weights, name: str) -> Callable[[Tensor], Tensor]:
    """Return a small map with a bias, computed in float32."""
    weight = weights(f"{name}.weight").float()
    bias = weights(f"{name}.bias").float()
    return lambda rows: functional.linear(rows.to(weight.device), weight, bias)


class Shape:
    """Facts of a config under their many published names."""

    def __init__(self, config: Mapping[str, object]) -> None:
        """Take what a config says; rope's facts may stand in a table of their own."""
        rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
        assert isinstance(rope, dict)
        kind = rope.get("rope_type", rope.get("type", "default"))
        if kind not in ("default", "linear"):
            raise ModelError(f"config.json asks for rope_type {kind!r}: not supported")
        self.rope_factor = float(rope.get("factor", 1.0)) if kind == "linear" else 1.0
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
