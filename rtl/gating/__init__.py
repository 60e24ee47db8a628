"""Gating: what is not needed, or known to be zero, is not read, written or computed ([RADAIDEH], chapter 4)."""
