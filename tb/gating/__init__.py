"""Benches of the units in `rtl.gating`."""
