// nvcc -arch=compute_75 -ptx symbols.cu
// Module variables that a host sets, that the module sets, and that the kernel itself writes.
struct Limits {
    int low, high;
};

__constant__ float taps[3];
__constant__ Limits limits;
__constant__ int given = 3;
__device__ int offset;
__device__ int shift = 0;  // nvcc prints it as it prints `offset`
__device__ int scratch[64];
__device__ unsigned int counter;
__device__ int through_pointer;
__device__ int *pointer = &through_pointer;

__noinline__ __device__ int clipped(int value) { return min(max(value, limits.low), limits.high); }

__global__ void symbols(const float *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += taps[k] * x[min(i + k, n - 1)];
    scratch[threadIdx.x] = clipped(static_cast<int>(sum));
    y[i] = scratch[threadIdx.x] + given + offset + (i >> shift) + *pointer;
    atomicAdd(&counter, 1u);
}
