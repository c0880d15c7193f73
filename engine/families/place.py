"""Where a model is held: the device, and how many bits a weight has.

A model of billions of weights fits a small machine only with few bits. These maps keep
groups of weights as small whole numbers with a scale each and unpack them when they are
used: slower than the kernels of engine/kernels.py, a quarter of the memory.
"""

from typing import Literal

import torch
import torch.nn.functional as functional
from torch import Tensor

from niello.engine.kernels import Linear, pack_bfloat16, pack_quickest
from niello.infill.errors import SettingsError

from .load import Place
from .weights import Pack

Bits = Literal[4, 8, 16]

_GROUP = 64  # weights of a row that share a scale


def choose_place(bits: int = 16, device: str = "") -> Place:
    """Return the best device there is, or the one named, with weights of ``bits``."""
    found = torch.device(device or _best_device())
    if bits == 16:
        pack = pack_quickest if found.type == "cpu" else pack_bfloat16
        return Place(found, pack)
    return Place(found, pack_groups(bits))


def pack_groups(bits: int) -> Pack:
    """Return a kernel whose weights are whole numbers of 4 or 8 bits in groups."""
    if bits not in (4, 8):
        raise SettingsError(
            f"weights of {bits} bits are not supported; give 4, 8 or 16"
        )

    def pack(weight: Tensor) -> Linear:
        n_out, n_in = weight.shape
        if n_in % _GROUP:
            return pack_bfloat16(weight)
        groups = weight.float().view(n_out, -1, _GROUP)
        most = (1 << (bits - 1)) - 1
        scales = (groups.abs().amax(-1, keepdim=True) / most).clamp(min=1e-12)
        whole = (groups / scales).round().to(torch.int8)
        scales = scales.bfloat16()
        stored = _pair(whole) if bits == 4 else whole

        def linear(rows: Tensor) -> Tensor:
            small = _unpair(stored) if bits == 4 else stored
            unpacked = (small.bfloat16() * scales).view(n_out, n_in)
            return functional.linear(rows.bfloat16(), unpacked).float()

        return linear

    return pack


def _pair(whole: Tensor) -> Tensor:
    """Store two numbers of 4 bits in a byte."""
    shifted = (whole + 8).to(torch.uint8)
    return shifted[..., 0::2] | (shifted[..., 1::2] << 4)


def _unpair(stored: Tensor) -> Tensor:
    both = torch.stack([stored & 15, stored >> 4], -1).flatten(-2)
    return both.to(torch.int8) - 8


def _best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
