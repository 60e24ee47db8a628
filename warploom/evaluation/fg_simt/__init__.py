"""The experiments of [AFFINE], sections 4 and 6: the FG-SIMT engine, its area and its energy (docs/fg_simt.md)."""
