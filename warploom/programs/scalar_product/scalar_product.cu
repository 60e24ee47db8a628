// Scalar products of pairs of vectors: a block adds up the products of a pair in several accumulators, each for
// elements that are `accumulators` apart, and then the accumulators as a tree.
//
// `accumulators` is a power of two. Dynamic shared memory: as many floats.
extern "C" __global__ void scalar_product(const float *__restrict__ a, const float *__restrict__ b,
                                          float *__restrict__ products, int pairs, int length, int accumulators)
{
    extern __shared__ float sums[];
    for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
        const float *of_a = a + pair * length;
        const float *of_b = b + pair * length;
        for (int i = threadIdx.x; i < accumulators; i += blockDim.x) {
            float sum = 0.0f;
            for (int k = i; k < length; k += accumulators)
                sum += of_a[k] * of_b[k];
            sums[i] = sum;
        }
        for (int half = accumulators / 2; half > 0; half /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < half; i += blockDim.x)
                sums[i] += sums[i + half];
        }
        if (threadIdx.x == 0)
            products[pair] = sums[0];
        __syncthreads();
    }
}
