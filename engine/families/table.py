"""The families of diffusion language models: one small entry each.

An entry holds what a checkpoint's own config does not say; what the config says wins.
Where the numbers come from is written in docs/models.md.
"""

from collections.abc import Mapping

from niello.infill.errors import ModelError

from .family import DEEPSEEK, PREFIX_FIRST, STARCODER, SUFFIX_FIRST, Family
from .names import LLADA, LLADA2, LLADA_MOE, QWEN3_NEXT
from .style import GEMMA_STYLE, SHIFTED_STYLE, STARCODER2_STYLE

FAMILIES: tuple[Family, ...] = (
    Family(
        "llada",
        "bidirectional",
        LLADA,
        model_types=("llada",),
        mask_id=126336,
        length="search",
    ),
    Family(
        "llada-moe",
        "bidirectional",
        LLADA_MOE,
        model_types=("lladamoe", "llada_moe"),
        mask_id=156895,
        length="search",
    ),
    Family(
        "llada2",
        "block",
        LLADA2,
        model_types=("llada2_moe",),
        mask_id=156895,
        block=32,
        length="blocks",
        sampled=True,
    ),
    Family(
        "llada2.1",
        "block",
        LLADA2,
        model_types=("llada2_moe", "llada21_moe"),
        hint="LLaDA2.1",
        mask_id=156895,
        block=32,
        commit="edit",
        length="blocks",
        sampled=True,
    ),
    Family(
        "llada2.2",
        "block",
        LLADA2,
        model_types=("llada2_moe",),
        hint="LLaDA2.2",
        mask_id=156895,
        block=32,
        commit="indel",
        length="blocks",
    ),
    Family(
        "dreamon",
        "bidirectional",
        model_types=("Dream", "DreamOn", "dreamon"),
        hint="DreamOn",
        shift=True,
        mask_id=151666,
        expand_id=151667,
        commit="entropy",
        length="expand",
        begins=True,
        ends=True,
        sampled=True,
    ),
    Family(
        "dream",
        "bidirectional",
        model_types=("Dream",),
        shift=True,
        mask_id=151666,
        length="search",
        begins=True,
        schedule="linear",
        sampled=True,
    ),
    Family(
        "open-dcoder",
        "bidirectional",
        model_types=("qwen2",),
        hint="dcoder",
        shift=True,
        mask_token="[MASK]",
        length="search",
        schedule="linear",
        sampled=True,
    ),
    Family(
        "bd3lm-a2d",
        "block",
        model_types=("a2d-qwen2", "a2d-qwen3", "a2d-llama"),
        hint="bd3lm",
        mask_token="<|mask|>",
        block=32,
        length="blocks",
        fim=PREFIX_FIRST,
        schedule="rounded",
    ),
    Family(
        "mdlm-a2d",
        "bidirectional",
        model_types=("a2d-qwen2", "a2d-qwen3", "a2d-llama"),
        mask_token="<|mask|>",
        length="search",
        schedule="rounded",
    ),
    Family(
        "sdar",
        "block",
        model_types=("sdar", "sdar_moe"),
        architectures=("SDARForCausalLM", "SDARMoeForCausalLM"),
        mask_id=151669,
        block=4,
        threshold=0.85,
        length="blocks",
        fim=PREFIX_FIRST,
        sampled=True,
    ),
    Family(
        "fast-dllm-v2",
        "block",
        model_types=("Fast_dLLM_Qwen",),
        architectures=("Fast_dLLM_QwenForCausalLM",),
        shift=True,
        mask_id=151665,
        block=32,
        sub_block=8,
        length="blocks",
        fim=PREFIX_FIRST,
    ),
    Family(
        "stable-diffcoder",
        "block",
        architectures=("StableDiffcoderForCausalLM",),
        mask_id=5,
        block=4,
        length="blocks",
        fim=SUFFIX_FIRST,
    ),
    Family(
        "mdlm",
        "bidirectional",
        model_types=("mdlm",),
        mask_id=50257,
        length="search",
        dit=True,
    ),
    Family(
        "bd3lm",
        "block",
        model_types=("bd3lm",),
        mask_id=50257,
        block=4,
        length="blocks",
        dit=True,
    ),
    Family(
        "diffusiongemma",
        "canvas",
        model_types=("diffusion_gemma",),
        length="fixed",
        begins=True,
    ),
    Family("elf", "vectors", model_types=("elf",), length="nearby"),
    Family(
        "diffuseq",
        "vectors",
        model_types=("diffuseq",),
        length="nearby",
        begins=True,
        ends=True,
    ),
    Family(
        "qwen2",
        "causal",
        model_types=("qwen2", "qwen3", "qwen3_moe"),
        length="blocks",
        fim=PREFIX_FIRST,
    ),
    Family(
        "qwen3-next",
        "causal",
        QWEN3_NEXT,
        SHIFTED_STYLE,
        model_types=("qwen3_next",),
        length="blocks",
        fim=PREFIX_FIRST,
    ),
    Family(
        "seed-coder",
        "causal",
        model_types=("llama",),
        hint="Seed-Coder",
        length="blocks",
        fim=SUFFIX_FIRST,
    ),
    Family(
        "deepseek-coder",
        "causal",
        model_types=("llama",),
        hint="deepseek-coder",
        length="blocks",
        fim=DEEPSEEK,
        begins=True,
    ),
    Family(
        "starcoder2",
        "causal",
        style=STARCODER2_STYLE,
        model_types=("starcoder2",),
        length="blocks",
        fim=STARCODER,
    ),
    Family(
        "codegemma",
        "causal",
        style=GEMMA_STYLE,
        model_types=("gemma",),
        length="blocks",
        fim=PREFIX_FIRST,
        begins=True,
    ),
    Family(
        "clover",
        "block",
        model_types=("clover_moe",),
        unknown="its mask token, its logits' shift and its backward layers' maps",
    ),
)


def find_family(config: Mapping[str, object], name: str) -> Family:
    """Return the family of a checkpoint by its config and, where needed, its name."""
    kind = str(config.get("model_type", ""))
    architectures = config.get("architectures")
    listed = architectures if isinstance(architectures, list) else []
    fits = [
        family
        for family in FAMILIES
        if (kind in family.model_types or set(listed) & set(family.architectures))
        and family.hint.lower() in name.lower()
    ]
    if not fits:
        known = ", ".join(family.name for family in FAMILIES)
        raise ModelError(
            f"{name}: no diffusion language model of a known family "
            f"(model_type {kind!r}); known are {known}"
        )
    return max(fits, key=lambda family: len(family.hint))
