"""Benches of the units in `rtl.affine`."""
