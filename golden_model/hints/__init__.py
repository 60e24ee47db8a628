"""Hint-assisted order: what a warp executes while it waits for memory (docs/contract/hints.md)."""
