// Convolution with nine constant weights, one thread per inner point, all loads from global memory.
extern "C" __global__ void convolve(const float *in, float *out, int rows, int columns)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= columns - 1 || y < 1 || y >= rows - 1)
        return;
    const float *here = in + y * columns + x;
    float sum = 0.2f * here[-columns - 1];
    sum = fmaf(-0.3f, here[-1], sum);
    sum = fmaf(0.4f, here[columns - 1], sum);
    sum = fmaf(0.5f, here[-columns], sum);
    sum = fmaf(0.6f, here[0], sum);
    sum = fmaf(0.7f, here[columns], sum);
    sum = fmaf(-0.8f, here[-columns + 1], sum);
    sum = fmaf(-0.9f, here[1], sum);
    sum = fmaf(0.1f, here[columns + 1], sum);
    out[y * columns + x] = sum;
}
