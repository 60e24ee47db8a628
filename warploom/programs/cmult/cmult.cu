// Products of two vectors of complex numbers, element by element. One thread per element.
extern "C" __global__ void cmult(const float2 *__restrict__ a, const float2 *__restrict__ b, float2 *product, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float2 p = a[i], q = b[i];
    product[i] = make_float2(fmaf(p.x, q.x, -p.y * q.y), fmaf(p.x, q.y, p.y * q.x));
}
