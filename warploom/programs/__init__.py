"""Bundled programs: CUDA kernels with the host code that launches them, inputs of three sizes, numpy references."""
