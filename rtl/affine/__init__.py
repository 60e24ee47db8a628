"""The affine unit: executes operations on base + lane * stride once for a warp ([AFFINE], section 4)."""
