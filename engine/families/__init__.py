"""Diffusion language models of other makers, read from their published weights."""
