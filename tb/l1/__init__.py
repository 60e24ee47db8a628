"""Benches of the engine's L1."""
