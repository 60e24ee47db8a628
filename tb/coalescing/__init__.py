"""Benches of the units in `warploom.rtl.coalescing`."""
