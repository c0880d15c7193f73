"""Checkpoints of diffusion language models by short names: where they lie, how big.

Licences are those that the publishers state; a fetch shows them, nothing checks them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Published(NamedTuple):
    """A checkpoint on the Hugging Face hub."""

    hub_id: str
    license: str
    billions: float  # parameters

    def gigabytes(self, bits: int = 16) -> float:
        """Return about how much memory the weights take with ``bits`` a weight."""
        scales = 0 if bits == 16 else 16 / 64  # A scale of 16 bits for 64 weights.
        return self.billions * (bits + scales) / 8


_MIT, _APACHE, _UNREAD = "MIT", "Apache-2.0", "see its publisher"

PUBLISHED: Mapping[str, Published] = MappingProxyType(
    {
        "llada": Published("GSAI-ML/LLaDA-8B-Base", _MIT, 8.0),
        "llada-instruct": Published("GSAI-ML/LLaDA-8B-Instruct", _MIT, 8.0),
        "llada-1.5": Published("GSAI-ML/LLaDA-1.5", _MIT, 8.0),
        "llada-moe": Published("inclusionAI/LLaDA-MoE-7B-A1B-Base", _APACHE, 7.4),
        "llada2-mini": Published("inclusionAI/LLaDA2.0-mini", _APACHE, 16),
        "llada2-flash": Published("inclusionAI/LLaDA2.0-flash", _APACHE, 100),
        "llada2.1-mini": Published("inclusionAI/LLaDA2.1-mini", _APACHE, 16),
        "llada2.1-flash": Published("inclusionAI/LLaDA2.1-flash", _APACHE, 100),
        "llada2.2-flash": Published("inclusionAI/LLaDA2.2-flash", _UNREAD, 103),
        "dream": Published("Dream-org/Dream-v0-Base-7B", _APACHE, 7.6),
        "dream-instruct": Published("Dream-org/Dream-v0-Instruct-7B", _APACHE, 7.6),
        "dream-coder": Published("Dream-org/Dream-Coder-v0-Base-7B", _APACHE, 7.6),
        "dreamon": Published("Dream-org/DreamOn-v0-7B", _APACHE, 7.6),
        "diffucoder": Published("apple/DiffuCoder-7B-Base", _UNREAD, 7.6),
        "open-dcoder": Published("fredzzp/open-dcoder-0.5B", _UNREAD, 0.5),
        "mdlm-qwen3": Published(
            "dllm-hub/Qwen3-0.6B-diffusion-mdlm-v0.1", _APACHE, 0.6
        ),
        "bd3lm-qwen3": Published(
            "dllm-hub/Qwen3-0.6B-diffusion-bd3lm-v0.1", _APACHE, 0.6
        ),
        "mdlm-coder": Published(
            "dllm-hub/Qwen2.5-Coder-0.5B-Instruct-diffusion-mdlm-v0.1", _APACHE, 0.5
        ),
        "bd3lm-coder": Published(
            "dllm-hub/Qwen2.5-Coder-0.5B-Instruct-diffusion-bd3lm-v0.1", _APACHE, 0.5
        ),
        "sdar-1.7b": Published("JetLM/SDAR-1.7B-Chat", _APACHE, 1.7),
        "sdar-4b": Published("JetLM/SDAR-4B-Chat", _APACHE, 4.0),
        "sdar-8b": Published("JetLM/SDAR-8B-Chat", _APACHE, 8.2),
        "sdar-30b": Published("JetLM/SDAR-30B-A3B-Chat", _APACHE, 30.5),
        "fast-dllm-1.5b": Published(
            "Efficient-Large-Model/Fast_dLLM_v2_1.5B", _APACHE, 1.5
        ),
        "fast-dllm-7b": Published(
            "Efficient-Large-Model/Fast_dLLM_v2_7B", _APACHE, 7.6
        ),
        "stable-diffcoder": Published(
            "ByteDance-Seed/Stable-DiffCoder-8B-Base", _MIT, 8.3
        ),
        "diffusiongemma": Published("google/diffusiongemma-26B-A4B-it", _APACHE, 25.2),
    }
)


def describe(name: str) -> str:
    """Return where a short name's checkpoint lies, its licence and its memory."""
    one = PUBLISHED[name]
    return (
        f"{one.hub_id}; licence: {one.license}; memory: about "
        f"{one.gigabytes():.0f} GB, {one.gigabytes(4):.0f} GB with 4 bits a weight"
    )


def hub_id_of(name: str) -> str:
    """Return the hub id of a short name; any other name is returned as it is."""
    return PUBLISHED[name].hub_id if name in PUBLISHED else name
