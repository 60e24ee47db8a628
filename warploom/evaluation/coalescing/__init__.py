"""The experiment of [RADAIDEH], chapter 3: the coalescing register file (docs/evaluation.md)."""
