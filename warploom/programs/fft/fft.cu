// Fourier transforms of rows of complex numbers, radix 4: a block transforms a row, every thread holds four numbers of
// it. Between passes the threads exchange numbers through shared memory, so that none is out of order at the end.
//
// A row has four times as many numbers as a block threads, a power of four. roots[k] = exp(-2 pi i k / length).
// Dynamic shared memory: a row.
__device__ float2 operator+(float2 a, float2 b)
{
    return {a.x + b.x, a.y + b.y};
}

__device__ float2 operator-(float2 a, float2 b)
{
    return {a.x - b.x, a.y - b.y};
}

__device__ float2 operator*(float2 a, float2 b)
{
    return {fmaf(a.x, b.x, -__fmul_rn(a.y, b.y)), fmaf(a.x, b.y, __fmul_rn(a.y, b.x))};
}

extern "C" __global__ void fft(const float2 *__restrict__ in, float2 *__restrict__ out,
                               const float2 *__restrict__ roots)
{
    extern __shared__ float2 row[];
    const int quarter = blockDim.x;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 4 * quarter;
    float2 v[4];
    for (int i = 0; i < 4; i++)
        v[i] = in[first + i * quarter + thread];

    for (int done = 1; done <= quarter; done *= 4) {
        const int k = thread % done;
        for (int i = 1; i < 4; i++)
            v[i] = v[i] * roots[i * k * (quarter / done)];

        const float2 even = v[0] + v[2], odd = v[0] - v[2];
        const float2 sum = v[1] + v[3], difference = v[1] - v[3];
        const float2 turned = {difference.y, -difference.x};  // times -i
        const int at = 4 * (thread - k) + k;
        __syncthreads();
        row[at] = even + sum;
        row[at + done] = odd + turned;
        row[at + 2 * done] = even - sum;
        row[at + 3 * done] = odd - turned;
        __syncthreads();
        for (int i = 0; i < 4; i++)
            v[i] = row[i * quarter + thread];
    }
    for (int i = 0; i < 4; i++)
        out[first + i * quarter + thread] = v[i];
}
