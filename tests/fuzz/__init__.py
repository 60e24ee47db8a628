"""Random CUDA C: nvcc, the compiler and the models on one side, g++ and the host's threads on the other."""
