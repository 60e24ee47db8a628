// Sum of an array: every thread adds up elements a grid apart, then each block adds up its threads as a tree in
// shared memory. One partial sum per block comes back.
//
// Block: a power of two. Dynamic shared memory: blockDim.x floats.
extern "C" __global__ void reduction(const float *__restrict__ values, float *__restrict__ partial_sums, int n)
{
    extern __shared__ float partial[];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += values[i];
    partial[threadIdx.x] = sum;
    __syncthreads();

    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial_sums[blockIdx.x] = partial[0];
}
