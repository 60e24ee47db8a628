// Jacobi's iteration in two dimensions: inner points become the mean of themselves and their four neighbours, in two
// launches, one that computes and one that copies back.
extern "C" __global__ void relax(const float *before, float *after, int size)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = y * size + x;
    if (x >= 1 && x < size - 1 && y >= 1 && y < size - 1)
        after[i] = 0.2f * (before[i] + before[i - 1] + before[i + 1] + before[i + size] + before[i - size]);
}

extern "C" __global__ void copy_inner(float *to, const float *from, int size)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = y * size + x;
    if (x >= 1 && x < size - 1 && y >= 1 && y < size - 1)
        to[i] = from[i];
}
