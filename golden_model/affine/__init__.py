"""Compact registers and their arithmetic (docs/contract/affine.md): models of the units in `warploom.rtl.affine`."""
