"""The experiment of [AFFINE]: the affine unit and structure in kernels (docs/evaluation_affine.md)."""
