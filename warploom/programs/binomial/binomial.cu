// Values of European call options by a binomial tree: one block per option, one thread per node of a level.
//
// Block: steps + 1 threads. From the leaves to the root, a node's value is the discounted mean of its two successors.
// Dynamic shared memory: blockDim.x floats.
struct Option {
    float price, strike;
    float volatility;  // of the logarithm of the price, in one step
    float up, down;    // probabilities, discounted
};

extern "C" __global__ void binomial(const Option *__restrict__ options, float *__restrict__ values)
{
    extern __shared__ float level[];
    const Option option = options[blockIdx.x];
    const int node = threadIdx.x, steps = blockDim.x - 1;
    const float growth = expf(option.volatility * (2 * node - steps));
    float value = fmaxf(fmaf(option.price, growth, -option.strike), 0.0f);
#pragma unroll 1
    for (int width = steps; width > 0; width--) {
        level[node] = value;
        __syncthreads();
        if (node < width)
            value = fmaf(option.up, level[node + 1], option.down * value);
        __syncthreads();
    }
    if (node == 0)
        values[blockIdx.x] = value;
}
