"""Low-rank adapters on every linear map of the base, and how they are stored."""

import math
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from torch.nn.functional import linear

from .network import LINEAR_SHAPES, N_LAYERS


class Adapters(nn.Module):
    """W x + B A x for every linear map; float32, computing in the base's own type."""

    def __init__(self, rank: int) -> None:
        """Start as the base itself."""
        super().__init__()
        self.down, self.up = nn.ParameterDict(), nn.ParameterDict()
        for index in range(N_LAYERS):
            for name, (n_out, n_in) in LINEAR_SHAPES.items():
                self.down[f"{index}_{name}"] = nn.Parameter(
                    torch.randn(rank, n_in) / math.sqrt(n_in)
                )
                self.up[f"{index}_{name}"] = nn.Parameter(torch.zeros(n_out, rank))

    @property
    def rank(self) -> int:
        """The inner width of each adapter."""
        return len(self.down["0_attn_qkv"])

    def forward(
        self, x: torch.Tensor, weight: torch.Tensor, index: int, name: str
    ) -> torch.Tensor:
        """Apply one layer's linear map of this name, with its adapter."""
        down = self.down[f"{index}_{name}"].to(x.dtype)
        up = self.up[f"{index}_{name}"].to(x.dtype)
        return linear(x, weight) + linear(linear(x, down), up)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights under the names of a weight file."""
        named = {}
        for index in range(N_LAYERS):
            for name in LINEAR_SHAPES:
                named[f"layers.{index}.{name}.lora_A"] = self.down[f"{index}_{name}"]
                named[f"layers.{index}.{name}.lora_B"] = self.up[f"{index}_{name}"]
        return named


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Read a weight file's tensors."""
    with safe_open(path, "pt") as file:
        return {name: file.get_tensor(name) for name in list(file.keys())}


def rank_of(tensors: dict[str, torch.Tensor]) -> int:
    """Return the rank of the adapters in a weight file."""
    return len(tensors["layers.0.attn_qkv.lora_A"])


@torch.no_grad()
def cut_rank(tensors: dict[str, torch.Tensor], rank: int) -> dict[str, torch.Tensor]:
    """Return the tensors with adapters of at most ``rank``, as near as these can be.

    The product of each pair keeps its largest singular values.
    """
    cut = dict(tensors)
    for name in tensors:
        if name.endswith("lora_A"):
            other = name.removesuffix("A") + "B"
            inner, down = torch.linalg.qr(tensors[name].float().T)  # (in, rank)
            outer, up = torch.linalg.qr(tensors[other].float())
            left, sizes, right = torch.linalg.svd(up @ down.T)
            root = sizes[:rank].sqrt()
            cut[name] = root[:, None] * (right[:rank] @ inner.T)
            cut[other] = outer @ left[:, :rank] * root
    return cut


@torch.no_grad()
def fill_in(
    parameters: dict[str, torch.Tensor], tensors: dict[str, torch.Tensor]
) -> None:
    """Copy a weight file's tensors into the parameters of the same names.

    A parameter of a higher rank keeps what it has beyond.
    """
    for name, parameter in parameters.items():
        if name in tensors:
            rows, columns = tensors[name].shape
            parameter[:rows, :columns] = tensors[name]


def write_weights(
    path: Path, tensors: dict[str, torch.Tensor], metadata: dict[str, str]
) -> None:
    """Write a weight file in one step: floats in bfloat16, metadata in order."""
    stored = {
        name: tensor.detach()
        .to("cpu", torch.bfloat16 if tensor.is_floating_point() else tensor.dtype)
        .contiguous()
        for name, tensor in tensors.items()
    }
    part = path.with_suffix(".part")
    save_file(stored, part, {"format": "pt", "scale": "1.0"} | metadata)
    part.replace(path)
