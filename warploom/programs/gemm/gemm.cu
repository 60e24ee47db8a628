// Matrix product c = alpha * a * b + beta * c, one thread per element, which adds up in global memory.
extern "C" __global__ void gemm(const float *a, const float *b, float *c, int rows, int columns, int inner,
                                float alpha, float beta)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows)
        return;
    c[y * columns + x] *= beta;
    for (int k = 0; k < inner; k++)
        c[y * columns + x] += alpha * a[y * inner + k] * b[k * columns + x];
}
