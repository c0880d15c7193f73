"""The block-diffusion engine: models, caches, drafting, weights and remote engines."""
