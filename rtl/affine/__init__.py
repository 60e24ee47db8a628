"""The affine unit: once for a warp what is base + lane * stride (seed 002, section 4)."""
