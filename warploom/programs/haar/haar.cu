// Haar wavelets of a signal: a level replaces neighbours by their scaled sum and difference. A block takes a segment of
// twice as many samples as it has threads through all levels in shared memory, down to one sum; the host launches again
// for the sums of all segments.
//
// The differences of a level with n sums go to result[n] .. result[2 * n - 1]. Dynamic shared memory: a segment.
#define ROOT_OF_HALF 0.70710678f

extern "C" __global__ void haar(const float *__restrict__ signal, float *__restrict__ result, float *__restrict__ sums)
{
    extern __shared__ float segment[];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 2 * blockDim.x;
    segment[thread] = signal[first + thread];
    segment[thread + blockDim.x] = signal[first + thread + blockDim.x];
    __syncthreads();

    for (int busy = blockDim.x; busy > 0; busy /= 2) {
        float a, b;
        if (thread < busy) {
            a = segment[2 * thread];
            b = segment[2 * thread + 1];
        }
        __syncthreads();
        if (thread < busy) {
            segment[thread] = (a + b) * ROOT_OF_HALF;
            result[busy * (gridDim.x + blockIdx.x) + thread] = (a - b) * ROOT_OF_HALF;
        }
        __syncthreads();
    }
    if (thread == 0)
        sums[blockIdx.x] = segment[0];
}
