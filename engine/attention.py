"""Attention of new rows to a cache: exact to the last bit however rows are grouped.

How a matrix product sums up depends on its length and, below a few rows, on their
number. So caches are read in whole steps, values are mixed within each step and summed
over steps, and few rows are made more. Knows nothing of layers.
"""

from functools import partial

import torch
import torch.nn.functional as functional
from torch import Tensor

from .cache import STEP, Seen, whole_steps
from .kernels import onednn_products, seconds

_FEW = 4  # of fewer rows matrix products sum up in an order of their own
_GROUP = 16  # steps; up to so many, a sum adds one after the other


def attention_bias(n_new: int, n_kept: int, visible: Tensor | None) -> Tensor:
    """Return what is added to the scores of all but kept rows: 0 or minus infinity.

    Its columns are the new rows and the rest of the last step. ``visible`` is of the
    new rows, ``(n_new, n_new)``; None means causal.
    """
    bias = torch.full((n_new, whole_steps(n_kept + n_new) - n_kept), float("-inf"))
    if visible is None:
        bias.triu_(1)
    else:
        bias[:, :n_new].masked_fill_(visible, 0.0)
    return bias


def attend(queries: Tensor, seen: Seen, bias: Tensor, onednn: bool) -> Tensor:
    """Return ``(time, heads * dim)``; heads that share a key head are put together.

    ``queries`` are ``(time, heads, dim)``. ``onednn`` says whether products are left to
    it.
    """
    n_asked, n_heads, head_dim = queries.shape
    n_kv_heads, n_seen = len(seen.keys), seen.keys.shape[-1]
    if n_asked * n_heads < _FEW * n_kv_heads:
        queries = functional.pad(queries, (0, 0, 0, 0, 0, _FEW - n_asked))
        bias = functional.pad(bias, (0, 0, 0, _FEW - n_asked))
    n_new = len(queries)
    grouped = queries.view(n_new, n_kv_heads, -1, head_dim).permute(1, 2, 0, 3)
    grouped = grouped.reshape(n_kv_heads, -1, head_dim) * head_dim**-0.5
    with onednn_products(onednn):
        weights = grouped @ seen.keys  # (kv_heads, rows, seen)
        # In place from here on: after a long context nothing else is as large.
        by_head = weights.view(n_kv_heads, -1, n_new, n_seen)
        by_head[..., -bias.shape[1] :].add_(bias)
        torch.softmax(weights, -1, out=weights)
        mixed = _mix(weights, seen.values)
    mixed = mixed.view(n_kv_heads, -1, n_new, head_dim)
    return mixed.permute(2, 0, 1, 3).reshape(n_new, -1)[:n_asked]


def _mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the values' sums ``(kv_heads, rows, dim)`` by weights of whole steps."""
    n_kv_heads, n_rows, n_seen = weights.shape
    by_step = weights.view(n_kv_heads, n_rows, -1, STEP).permute(2, 0, 1, 3)
    mixed = (by_step[:_GROUP] @ values[:_GROUP]).sum(0)
    for start in range(_GROUP, n_seen // STEP, _GROUP):
        group = slice(start, start + _GROUP)
        mixed += (by_step[group] @ values[group]).sum(0)
    return mixed


def onednn_pays(n_heads: int, n_kv_heads: int, head_dim: int) -> bool:
    """Return whether oneDNN attends quicker here, and the same to the last bit.

    The usual library, MKL, leaves AVX-512 unused on processors that are not Intel's.
    """
    if not hasattr(torch.backends.mkldnn, "matmul"):  # new in PyTorch 2.9
        return False
    random = partial(torch.randn, generator=torch.Generator().manual_seed(0))
    n_new, n_seen = 64, 2 * STEP
    queries = random(n_new, n_heads, head_dim)
    seen = Seen(
        random(n_kv_heads, head_dim, n_seen),
        random(n_seen // STEP, n_kv_heads, STEP, head_dim),
    )

    def mixed(n_asked: int, onednn: bool) -> Tensor:
        bias = attention_bias(n_asked, n_seen - n_asked, None)
        return attend(queries[:n_asked], seen, bias, onednn)

    for n_asked in (1, 8, n_new):
        if not torch.equal(mixed(n_asked, False), mixed(n_asked, True)):
            return False
    usual, other = (partial(mixed, n_new, onednn) for onednn in (False, True))
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)  # On a busy machine several wait for each other.
    try:
        return seconds(other) < 0.9 * seconds(usual)
    finally:
        torch.set_num_threads(n_threads)


def rotate(heads: Tensor, turn: Tensor) -> Tensor:
    """Rotate ``(rows, heads, dim)``: element i and i + dim/2 are one complex number."""
    real, imaginary = heads.chunk(2, dim=-1)
    turned = torch.complex(real, imaginary) * turn
    return torch.cat([turned.real, turned.imag], dim=-1)
