"""One folder a language: what can be filled, what a model should see, and its names."""
