"""The experiment of [RADAIDEH], chapter 4: gating of zeros (docs/evaluation_gating.md)."""
