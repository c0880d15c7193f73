"""The decoder's logits equal those of the reference implementations in transformers."""

from pathlib import Path

import pytest
import torch
import transformers
from tiny_families import TINY, causal, load, logits_of, scramble, some_tokens

from niello.engine.families.decoder import block_causal

EXPERTS = {
    "num_experts": 6,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "decoder_sparse_step": 1,
}
REFERENCES = {
    "llama": (transformers.LlamaConfig, {"rope_theta": 5e5}),
    "llama, with biases": (transformers.LlamaConfig, {"attention_bias": True}),
    "qwen2": (transformers.Qwen2Config, {"rope_theta": 1e6}),
    "qwen2, tied": (transformers.Qwen2Config, {"tie_word_embeddings": True}),
    "qwen3": (transformers.Qwen3Config, {"head_dim": 16}),
    "qwen3-moe": (transformers.Qwen3MoeConfig, {**EXPERTS, "norm_topk_prob": True}),
    "qwen3-moe, weights as they are": (
        transformers.Qwen3MoeConfig,
        {**EXPERTS, "norm_topk_prob": False},
    ),
    "olmoe": (transformers.OlmoeConfig, {"num_experts": 6, "num_experts_per_tok": 2}),
}


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("attention", ["causal", "all", "block"])
def test_logits_equal_the_reference(name: str, attention: str, tmp_path: Path) -> None:
    config_class, facts = REFERENCES[name]
    config = config_class(**{**TINY, **facts})
    reference = transformers.AutoModelForCausalLM.from_config(config)
    scramble(reference).save_pretrained(tmp_path)
    token_ids = some_tokens()
    visible = {
        "causal": causal(13),
        "all": torch.ones(13, 13, dtype=torch.bool),
        "block": block_causal(13, 4),
    }[attention]
    with torch.no_grad():
        expected = reference(token_ids[None], attention_mask=visible[None, None]).logits
    ours = logits_of(load(tmp_path), token_ids, visible)
    torch.testing.assert_close(ours, expected[0], atol=1e-4, rtol=0)
