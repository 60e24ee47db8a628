// Constants that all threads load alike, some of the threads, or each for itself. nvcc -arch=compute_75 -ptx taps.cu

constexpr int TAPS = 5;

__constant__ float taps[TAPS] = {0.5f, -1.25f, 3.0f, 0.125f, -2.0f};
__constant__ short scales[4] = {1, -2, 300, -4000};

extern "C" __global__ void filter(const float *in, float *out, int first, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = first; k < TAPS; ++k)
        sum += taps[k] * in[i + k];
    if (i < size)
        sum *= scales[blockIdx.x & 3];
    out[i] = sum + scales[i & 3];
}
