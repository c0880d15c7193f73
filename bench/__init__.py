"""Measurements: quality, speed and robustness, each one command."""
