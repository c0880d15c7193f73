"""Fills code between a fixed prefix and suffix with a block-diffusion engine."""
