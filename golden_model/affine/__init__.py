"""Compact registers and their arithmetic (docs/timing.md, section 13): twins of the units in `rtl.affine`."""
