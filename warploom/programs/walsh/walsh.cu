// Fast Walsh transform: a step adds and subtracts all pairs at one distance; the host launches a step per distance.
extern "C" __global__ void step(float *values, int distance)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int low = 2 * i - i % distance;
    const int high = low + distance;
    const float a = values[low], b = values[high];
    values[low] = a + b;
    values[high] = a - b;
}
