// Convolution of a signal with a long filter: result[i] = sum of signal[i + k] * filter[k]. One thread per result.
extern "C" __global__ void conv(const float *__restrict__ signal, const float *__restrict__ filter,
                                float *__restrict__ result, int taps, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < taps; k++)
        sum += signal[i + k] * filter[k];
    result[i] = sum;
}
