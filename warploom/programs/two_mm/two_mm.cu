// Products of three matrices, d = (a * b) * c, one after the other: a launch of the same kernel for each.
extern "C" __global__ void multiply(const float *a, const float *b, float *product, int rows, int columns, int inner)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows)
        return;
    product[y * columns + x] = 0.0f;
    for (int k = 0; k < inner; k++)
        product[y * columns + x] += a[y * inner + k] * b[k * columns + x];
}
