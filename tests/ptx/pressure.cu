// Kernels that need many registers. nvcc -arch=compute_75 -ptx pressure.cu

extern "C" __global__ void matrix(const float *in, float *out) {
    float a[6][6], sum[6];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) a[i][j] = in[(threadIdx.x + 7 * i + j) % 64];
#pragma unroll 1
    for (int round = 0; round < 3 + threadIdx.x % 3; round++) {
        for (int i = 0; i < 6; i++) {
            sum[i] = a[i][0];
            for (int j = 1; j < 6; j++) sum[i] = fmaf(sum[i], 0.5f, a[i][j] * a[j][i]);
        }
        for (int i = 0; i < 6; i++)
            if (sum[i] > 1.0f) for (int j = 0; j < 6; j++) a[i][j] = a[j][i] / (sum[i] + j);
    }
    float total = 0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) total += a[i][j] * (i - j);
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

extern "C" __global__ void wide(const double *in, double *out, unsigned long long *count) {
    double x[8];
    for (int i = 0; i < 8; i++) x[i] = in[(threadIdx.x + i) % 64];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            if (i != j && x[i] < x[j]) x[i] = fma(x[i], x[j], x[(i + j) % 8]) / 3.0;
    double total = 0;
    for (int i = 0; i < 8; i++) total += x[i] * x[(i + 3) % 8];
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
    unsigned long long seen = *count, old;
    do {
        old = seen;
        seen = atomicCAS(count, old, old + (total > 0 ? 3 : 1));
    } while (seen != old);
}

extern "C" __global__ void conditions(const int *in, int *out) {
    int v[12], kept = 0;
    bool set[12];
    for (int i = 0; i < 12; i++) {
        v[i] = in[(threadIdx.x * 3 + i) % 64];
        set[i] = v[i] % 3 == 1;
    }
    __syncthreads();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 12; i++)
            if (set[i] && (v[(i + round) % 12] & 1)) kept += v[i] * (set[(i + 5) % 12] ? 3 : 7);
    out[blockIdx.x * blockDim.x + threadIdx.x] = kept;
}
