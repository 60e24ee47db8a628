"""CUDA programs, as nvcc compiles them, on Warploom (docs/cuda.md).

`library` builds a stand-in for CUDA's runtime library from `runtime.cpp`. The program loads it, and it sends requests
to this process, where `session` answers them with a `Gpu`. `fatbin` finds the PTX in the program.
"""
