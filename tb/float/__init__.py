"""Benches of the units for single precision and division (docs/contract/float.md)."""
