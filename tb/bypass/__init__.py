"""Benches of the units in `warploom.rtl.bypass`."""
