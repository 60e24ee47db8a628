// nvcc -arch=compute_75 -ptx calls.cu          -> calls.ptx
// nvcc -arch=compute_75 -ptx -G calls.cu       -> calls_debug.ptx
#include <cassert>
#include <cstdio>

struct Pair {
    int number;
    char letter;
};

__constant__ float weights[4] = {1.0f, 2.5f};
__device__ int counter = 7;
__device__ int *where[2] = {&counter, nullptr};

__noinline__ __device__ Pair swapped(Pair p) { return {p.letter, static_cast<char>(p.number)}; }

__noinline__ __device__ int clipped(int value, int limit) {
    if (value > limit) return limit;
    if (value < -limit) return -limit;
    return value;
}

__global__ void calls(Pair *pairs, int *out, int limit) {
    extern __shared__ int scratch[];
    __shared__ int total;
    int i = threadIdx.x;
    Pair p = swapped(pairs[i]);
    scratch[i] = clipped(p.number, limit) + clipped(p.letter, 2 * limit);
    if (i == 0) total = *where[0];
    __syncthreads();
    assert(total == 7);
    printf("%d\n", scratch[i]);
    out[i] = total + scratch[i] + static_cast<int>(weights[i & 3]);
}
