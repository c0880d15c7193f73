"""Linear maps, in the number format that is quickest on this CPU.

A kernel is a function ``pack(weight) -> Linear``; a `Linear` maps ``(rows, in)`` to
``(rows, out)`` in float32. `choose` asks the CPU and times each kernel once a shape and
machine; nobody needs a flag. Knows nothing of models.

The 8-bit kernel keeps results independent of how many rows are computed together:
activations are scaled row by row, products are summed in whole numbers, and scales are
applied afterwards. That is what makes a checked draft equal the one-at-a-time text.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import NamedTuple

import torch
import torch.nn.functional as functional
from torch import Tensor

from .timings import remembered

Linear = Callable[[Tensor], Tensor]
"""Maps float32 ``(rows, in)`` to float32 ``(rows, out)``."""

_CHUNK = 512  # rows of weights that fit a processor's cache
_HANDICAP = 1.5  # of kernels whose sums may depend on the number of rows
_TIMED = 4096  # outputs of a map that is timed: of a larger one, a part
_ZERO = 128  # x86 multiplies unsigned activations by signed weights: 0 is stored as 128


class Kernel(NamedTuple):
    """A number format for linear maps."""

    name: str
    pack: Callable[[Tensor], Linear]


def pack_float32(weight: Tensor) -> Linear:
    """Return the plain map: ``(out, in)`` weights in float32."""
    weight = weight.float()
    return lambda rows: functional.linear(rows, weight)


def pack_bfloat16(weight: Tensor) -> Linear:
    """Return a map whose weights and activations are bfloat16."""
    weight = weight.bfloat16()
    return lambda rows: functional.linear(rows.bfloat16(), weight).float()


def pack_int8(weight: Tensor) -> Linear:
    """Return a map with 8-bit weights (one scale a row) and 8-bit activations."""
    whole = torch.empty(weight.shape, dtype=torch.int8)
    scale = torch.empty(len(weight))
    for start in range(0, len(weight), _CHUNK):
        part = weight[start : start + _CHUNK].float()
        own = part.abs().amax(1).clamp_(min=1e-12).div_(127)
        scale[start : start + _CHUNK] = own
        whole[start : start + _CHUNK] = part.div_(own[:, None]).round_()
    packed = torch.ops.onednn.qlinear_prepack(whole, None)
    zeros = torch.zeros(len(scale), dtype=torch.int32)
    scale.div_(127)  # the last factor of the activations' own scale
    multiply = torch.ops.onednn.qlinear_pointwise
    most = torch.tensor(127.0)

    def linear(rows: Tensor) -> Tensor:
        # Several times as quick as the infinity norm, which is not vectorised.
        scaled = rows.abs()
        peak = scaled.amax(-1, keepdim=True).clamp_(min=1e-12)
        torch.mul(rows, most / peak, out=scaled)
        # Nor is the conversion to unsigned bytes; turning the sign over adds 128.
        steps = scaled.round_().to(torch.int8).view(torch.uint8).bitwise_xor_(_ZERO)
        product: Tensor = multiply(
            *(steps, 1.0, _ZERO, packed, scale, zeros, None, 1.0, 0),
            *(torch.float32, "none", [], ""),
        )
        return product.mul_(peak)

    return linear


FLOAT32 = Kernel("float32", pack_float32)
BFLOAT16 = Kernel("bfloat16", pack_bfloat16)
INT8 = Kernel("int8", pack_int8)


@cache
def choose(n_out: int, n_in: int) -> Kernel:
    """Return the quickest kernel here for maps of a shape, timed once a machine."""
    n_out = min(n_out, _TIMED)
    kernels = {kernel.name: kernel for kernel in (INT8, BFLOAT16, FLOAT32)}
    what = f"kernel {n_out}x{n_in}"
    name = remembered(what, str, lambda: _quickest(list(kernels.values()), n_out, n_in))
    return kernels.get(name, FLOAT32)


def pack_quickest(weight: Tensor) -> Linear:
    """Return the map in the format that is quickest here for its shape."""
    return choose(*weight.shape).pack(weight)


QUICKEST = Kernel("quickest", pack_quickest)


def _quickest(kernels: list[Kernel], n_out: int, n_in: int) -> str:
    """Return the name of the kernel that maps a few rows, as a pass has, in least time.

    One that the processor lacks is left out. The exact one may take a little longer.
    """
    weight = torch.randn(n_out, n_in, generator=torch.Generator().manual_seed(0))
    rows = torch.randn(8, n_in, generator=torch.Generator().manual_seed(1))
    exact = functional.linear(rows, weight)
    timed = []
    for kernel in kernels:
        try:
            linear = kernel.pack(weight)
            if not (linear(rows) - exact).norm() <= 0.05 * exact.norm():
                continue  # An error that is no number is too large as well.
        except (RuntimeError, AttributeError, NotImplementedError):
            continue
        handicap = 1.0 if kernel is INT8 else _HANDICAP
        timed.append((handicap * seconds(partial(linear, rows)), kernel.name))
    return min(timed)[1]


@contextmanager
def onednn_products(on: bool = True) -> Iterator[None]:
    """Let oneDNN compute matrix products of float32.

    The setting allows it bfloat16 as well, which processors with AMX take up.
    """
    if not on:
        yield
        return
    matmul = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before = matmul.fp32_precision
    matmul.fp32_precision = "bf16"
    try:
        yield
    finally:
        matmul.fp32_precision = before


def seconds(work: Callable[[], object], n_repeats: int = 8) -> float:
    """Return the best of a few timings: neighbours only ever make a run slower."""
    best = float("inf")
    for _ in range(n_repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best
