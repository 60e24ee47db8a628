// Kernels of program.cpp. kernels.fatbin and compressed.fatbin are what nvcc 13.0 makes of them:
//   nvcc -fatbin -arch=compute_75 -code=sm_75,compute_75 --no-compress kernels.cu -o kernels.fatbin
//   nvcc -fatbin -arch=compute_75 -code=compute_75 kernels.cu -o compressed.fatbin
#include <cooperative_groups.h>

#include <cstdio>

struct Pair { float scale; int offset; };

__constant__ int weights[4];
__device__ int counter = 5;
__managed__ int tally[2] = {1, 2};

extern "C" __global__ void combine(const int* x, int* y, Pair pair, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = static_cast<int>(pair.scale * x[i]) + pair.offset + weights[i % 4];
    atomicAdd(&counter, 1);
}

extern "C" __global__ void reversed(int* x) {
    extern __shared__ int held[];
    held[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void tallied(int* at) {
    tally[1] += *at;
    *at = 50;
}

extern "C" __global__ void turned(int* x) {
    const auto grid = cooperative_groups::this_grid();
    const unsigned i = grid.thread_rank();
    const int next = x[(i + 1) % grid.size()];
    grid.sync();
    x[i] = next;
}

extern "C" __global__ void greet() { printf("hello from thread %d\n", threadIdx.x); }
