"""What this machine computes with, for people who look into a slow start."""

import torch

from .kernels import choose

_FEATURES = ("avx2", "avx512", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8")


def describe() -> dict[str, str]:
    """Return versions, processor features and the chosen kernel, by label."""
    has = [
        name
        for name in _FEATURES
        if getattr(torch.cpu, f"_is_{name}_supported", lambda: False)()
    ]
    capability = torch.backends.cpu.get_cpu_capability()
    return {
        "torch": torch.__version__,
        "cpu": f"{capability}; {', '.join(has) or 'no special features known'}",
        "threads": str(torch.get_num_threads()),
        "kernel": f"{choose().name} (the quickest of those timed)",
    }
