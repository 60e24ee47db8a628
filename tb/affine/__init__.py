"""Benches of the units in `warploom.rtl.affine`."""
