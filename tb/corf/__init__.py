"""Benches of the units in `rtl.corf`."""
