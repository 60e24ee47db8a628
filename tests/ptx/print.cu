// nvcc -arch=compute_75 -ptx print.cu
// Prints and assertions on the device.
#include <cassert>
#include <cstdio>

__device__ const char *const words[3] = {"zero", "one", "two"};

__noinline__ __device__ int report(const char *who, int value) { return printf("%s: %d\n", who, value); }

// `results` gets what printf returned: by thread, and in the last element what a print without arguments did.
__global__ void print(int *results, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    results[i] = printf("thread %d of %s block, %5.2f\n", i, blockIdx.x ? "another" : "the first", i * scale);
    if (i % 16 == 5) {
        unsigned long long wide = 0x123456789abcdefull * i;
        results[i] += printf("%lld %#llx %hhd %c|%-6d|%06d|%*d|%e|%a|%p|100%%\n", (long long)-i, wide, 300 + i, 'a' + i % 26,
                             i, i, 4, i, scale * 1e10, (double)scale, (void *)0);
        for (int k = 0; k < 2; k++) report(words[k + 1], k - i);
    }
    __syncthreads();
    if (i == 0) results[gridDim.x * blockDim.x] = printf("end\n");
}

__global__ void check(const int *values, int limit) {
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (i % 32 == 0) printf("block %d\n", blockIdx.x);
    __syncthreads();
    assert(values[i] < limit);
}
