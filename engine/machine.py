"""What this machine computes with, for people who look into a slow start."""

import torch

from .kernels import choose
from .timings import features

_USUAL = (4096, 896)  # the shape of the default model's larger maps


def describe() -> dict[str, str]:
    """Return versions, processor features and the chosen kernel, by label."""
    capability = torch.backends.cpu.get_cpu_capability()
    return {
        "torch": torch.__version__,
        "cpu": f"{capability}; {', '.join(features()) or 'no special features known'}",
        "threads": str(torch.get_num_threads()),
        "kernel": f"{choose(*_USUAL).name} for large maps (timed here)",
    }
