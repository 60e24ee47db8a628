// A small convolutional network for pictures of digits, a kernel for each kind of layer. One thread per result.

// Windows of 3 x 3 in all channels of a picture, each weighted for each filter, and what is negative cut off.
// Grid: (.., filters, pictures). Weights: [filter][channel][3][3].
extern "C" __global__ void convolve(const float *__restrict__ pictures, const float *__restrict__ weights,
                                    const float *__restrict__ biases, float *__restrict__ results, int channels,
                                    int side)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int filter = blockIdx.y, picture = blockIdx.z, inner = side - 2;
    if (i >= inner * inner)
        return;
    const float *corner = pictures + picture * channels * side * side + i / inner * side + i % inner;
    const float *weight = weights + filter * channels * 9;
    float sum = biases[filter];
#pragma unroll 1
    for (int channel = 0; channel < channels; channel++) {
#pragma unroll
        for (int k = 0; k < 9; k++)
            sum = fmaf(weight[k], corner[k / 3 * side + k % 3], sum);
        weight += 9;
        corner += side * side;
    }
    results[(picture * gridDim.y + filter) * inner * inner + i] = fmaxf(sum, 0.0f);
}

// The greatest of each 2 x 2 values. Grid: (.., channels of all pictures). A last odd row or column is left out.
extern "C" __global__ void pool(const float *__restrict__ values, float *__restrict__ results, int side)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, half = side / 2;
    if (i >= half * half)
        return;
    const float *corner = values + blockIdx.y * side * side + i / half * 2 * side + i % half * 2;
    results[blockIdx.y * half * half + i] =
        fmaxf(fmaxf(corner[0], corner[1]), fmaxf(corner[side], corner[side + 1]));
}

// A weighted sum of all values of a picture for each digit. Grid: (.., pictures). Weights: [value][digit].
extern "C" __global__ void connect(const float *__restrict__ values, const float *__restrict__ weights,
                                   const float *__restrict__ biases, float *__restrict__ results, int count, int digits)
{
    const int digit = blockIdx.x * blockDim.x + threadIdx.x;
    if (digit >= digits)
        return;
    values += blockIdx.y * count;
    float sum = biases[digit];
    for (int i = 0; i < count; i++)
        sum = fmaf(weights[i * digits + digit], values[i], sum);
    results[blockIdx.y * digits + digit] = sum;
}
