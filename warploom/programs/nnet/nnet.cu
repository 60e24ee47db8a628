// A small neural network for pictures of digits: a layer of 5 x 5 convolutions, every other pixel, then layers in which
// every neuron sees all values of the layer before. Weights of a neuron are in sequence, its bias first.
#define WINDOW 5

__device__ float activation(float sum) { return 1.7159f * tanhf(0.66666667f * sum); }

// Block: a map of neurons. Grid: (maps, pictures). Pictures are square.
extern "C" __global__ void convolve(const float *__restrict__ pictures, const float *__restrict__ weights,
                                    float *__restrict__ neurons, int side)
{
    const int map = blockIdx.x, maps = gridDim.x;
    const int x = threadIdx.x, y = threadIdx.y;
    const float *weight = weights + map * (WINDOW * WINDOW + 1);
    const float *corner = pictures + blockIdx.y * side * side + 2 * y * side + 2 * x;
    float sum = weight[0];
    for (int i = 0; i < WINDOW * WINDOW; i++)
        sum += weight[1 + i] * corner[i / WINDOW * side + i % WINDOW];
    neurons[((blockIdx.y * maps + map) * blockDim.y + y) * blockDim.x + x] = activation(sum);
}

// Block: one thread, one neuron. Grid: (neurons, pictures).
extern "C" __global__ void connect(const float *__restrict__ values, const float *__restrict__ weights,
                                   float *__restrict__ neurons, int inputs)
{
    const float *weight = weights + blockIdx.x * (inputs + 1);
    const float *value = values + blockIdx.y * inputs;
    float sum = weight[0];
    for (int i = 0; i < inputs; i++)
        sum += weight[1 + i] * value[i];
    neurons[blockIdx.y * gridDim.x + blockIdx.x] = activation(sum);
}
