"""Batch refactoring: structural search whose holes the model fills."""
