"""Benches of the register file."""
