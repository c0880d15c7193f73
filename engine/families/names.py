"""What checkpoints call their tensors and facts: one `Names` a published spelling."""

from typing import NamedTuple


class Names(NamedTuple):
    """Tensor names; those of a layer follow ``layer``, with its number filled in."""

    embedding: str = "model.embed_tokens.weight"
    layer: str = "model.layers.{}."
    norm_in: str = "input_layernorm"
    query: str = "self_attn.q_proj"
    key: str = "self_attn.k_proj"
    value: str = "self_attn.v_proj"
    qkv: str = "self_attn.qkv_proj"
    attn_out: str = "self_attn.o_proj"
    norm_query: str = "self_attn.q_norm"
    norm_key: str = "self_attn.k_norm"
    norm_ffn: str = "post_attention_layernorm"
    gate: str = "mlp.gate_proj"
    up: str = "mlp.up_proj"
    down: str = "mlp.down_proj"
    router: str = "mlp.gate"
    router_bias: str = "mlp.gate.expert_bias"
    expert: str = "mlp.experts.{}."
    shared: str = "mlp.shared_experts."
    norm_out: str = "model.norm.weight"
    head: str = "lm_head.weight"


LLAMA = Names()

LLADA = Names(
    embedding="model.transformer.wte.weight",
    layer="model.transformer.blocks.{}.",
    norm_in="attn_norm",
    query="q_proj",
    key="k_proj",
    value="v_proj",
    attn_out="attn_out",
    norm_query="q_norm",
    norm_key="k_norm",
    norm_ffn="ff_norm",
    gate="ff_proj",
    up="up_proj",
    down="ff_out",
    norm_out="model.transformer.ln_f.weight",
    head="model.transformer.ff_out.weight",
)

LLADA_MOE = Names(router_bias="mlp.expert_bias", shared="shared_expert.")

QWEN3_NEXT = Names(shared="mlp.shared_expert.")

LLADA2 = Names(
    embedding="model.word_embeddings.weight",
    qkv="attention.query_key_value",
    attn_out="attention.dense",
    norm_query="attention.query_layernorm",
    norm_key="attention.key_layernorm",
)

FACTS = {
    "n_layers": ("num_hidden_layers", "n_layers"),
    "width": ("hidden_size", "d_model"),
    "n_heads": ("num_attention_heads", "n_heads"),
    "n_kv_heads": ("num_key_value_heads", "n_kv_heads"),
    "norm_eps": ("rms_norm_eps", "norm_epsilon"),
    "rope_base": ("rope_theta",),
    "turned_part": ("partial_rotary_factor",),
    "n_experts": ("num_experts", "num_local_experts", "n_routed_experts"),
    "n_experts_picked": ("num_experts_per_tok",),
    "n_groups": ("n_group",),
    "n_groups_picked": ("topk_group",),
    "route_scale": ("routed_scaling_factor",),
}
"""What each fact is called in the configs that state it."""
