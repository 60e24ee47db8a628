"""Benches of the FG-SIMT engine."""
