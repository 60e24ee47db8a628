"""Bundled CUDA kernels, their PTX, launches and numpy references."""
