// Histogram of bytes: every block counts into shared memory, then adds its counts to the result in global memory.
// The result starts as zeros.
#define BINS 256

extern "C" __global__ void histogram(const unsigned char *__restrict__ data, unsigned int *bins, int n)
{
    __shared__ unsigned int counts[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        counts[bin] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[data[i]], 1);
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (counts[bin])
            atomicAdd(&bins[bin], counts[bin]);
}
