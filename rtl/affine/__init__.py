"""The affine unit: once for a warp what is base + lane * stride ([AFFINE], section 4)."""
