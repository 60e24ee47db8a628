"""Benches of the units in `rtl.coalescing`."""
