"""The experiment of [RADAIDEH], chapter 5: placement of threads (docs/placement.md)."""
