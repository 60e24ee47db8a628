// Products of a square matrix with one vector, and of its transpose with another; a thread per row or column.

// Every thread walks along a row: the threads of a warp are a row apart.
extern "C" __global__ void rows(const float *a, float *sums, const float *vector, int size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        for (int k = 0; k < size; k++)
            sums[i] += a[i * size + k] * vector[k];
}

// Every thread walks down a column: the threads of a warp are side by side.
extern "C" __global__ void columns(const float *a, float *sums, const float *vector, int size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        for (int k = 0; k < size; k++)
            sums[i] += a[k * size + i] * vector[k];
}
