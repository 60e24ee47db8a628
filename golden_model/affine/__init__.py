"""Compact registers and their arithmetic (docs/contract/affine.md): twins of the units in `warploom.rtl.affine`."""
