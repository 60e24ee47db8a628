// One training step of a layer of a neural network: weighted sums forward, change of the weights backward.
//
// Block: 16 x 16, one thread per weight; x counts hidden units, y input units. Extents are multiples of 16.
#define SIDE 16

// Every block multiplies its inputs by their weights, and adds up the products of each hidden unit as a tree.
extern "C" __global__ void forward(const float *__restrict__ inputs, const float *__restrict__ weights,
                                   float *__restrict__ partial_sums, int hidden)
{
    __shared__ float input[SIDE];
    __shared__ float products[SIDE][SIDE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int unit = blockIdx.x * SIDE + x;
    const int row = blockIdx.y * SIDE + y;

    if (x == 0)
        input[y] = inputs[row];
    __syncthreads();
    products[y][x] = weights[row * hidden + unit] * input[y];
    __syncthreads();

    for (int distance = 1; distance < SIDE; distance *= 2) {
        if (y % (2 * distance) == 0)
            products[y][x] += products[y + distance][x];
        __syncthreads();
    }
    if (y == 0)
        partial_sums[blockIdx.y * hidden + unit] = products[0][x];
}

// Moves every weight down its gradient, and on in the direction of its previous change.
extern "C" __global__ void adjust(const float *__restrict__ inputs, const float *__restrict__ deltas, float *weights,
                                  float *changes, int hidden, float rate, float momentum)
{
    const int unit = blockIdx.x * SIDE + threadIdx.x;
    const int row = blockIdx.y * SIDE + threadIdx.y;
    const int weight = row * hidden + unit;

    const float step = rate * deltas[unit];
    const float change = fmaf(step, inputs[row], momentum * changes[weight]);
    weights[weight] += change;
    changes[weight] = change;
}
