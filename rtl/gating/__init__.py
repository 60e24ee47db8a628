"""Gating: what nobody needs or is known to be zero is not read, written or computed ([RADAIDEH], chapter 4)."""
