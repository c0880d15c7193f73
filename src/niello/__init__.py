"""Fills the code between a fixed prefix and a fixed suffix with a block-diffusion engine."""
