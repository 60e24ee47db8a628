"""MASCAR: one warp's memory instructions go first while memory is saturated (docs/contract/comparators.md)."""
