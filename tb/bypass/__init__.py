"""Benches of the units in `rtl.bypass`."""
