// Random numbers from instructions that CUDA has no operators for, written as PTX in the source.

__device__ unsigned int lane()
{
    unsigned int result;
    asm("mov.u32 %0, %%laneid;" : "=r"(result));
    return result;
}

__device__ unsigned int multiply_add(unsigned int a, unsigned int b, unsigned int c)
{
    unsigned int result;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
}

__device__ unsigned int high_product(unsigned int a, unsigned int b)
{
    unsigned int result;
    asm("mul.hi.u32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

__device__ unsigned int rotate(unsigned int a, unsigned int bits)
{
    unsigned int result;
    asm("shf.l.wrap.b32 %0, %1, %1, %2;" : "=r"(result) : "r"(a), "r"(bits));
    return result;
}

__device__ unsigned int swap_bytes(unsigned int a)
{
    unsigned int result;
    asm("prmt.b32 %0, %1, 0, 0x0123;" : "=r"(result) : "r"(a));
    return result;
}

__device__ unsigned int majority(unsigned int a, unsigned int b, unsigned int c)
{
    unsigned int result;
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
}

__device__ unsigned int ones(unsigned int a)
{
    unsigned int result;
    asm("popc.b32 %0, %1;" : "=r"(result) : "r"(a));
    return result;
}

extern "C" __global__ void numbers(unsigned int *results, unsigned int seed, int rounds)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int x = i, y = seed;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        x = multiply_add(x, 747796405u, 2891336453u);
        y = rotate(y, ones(x)) ^ high_product(x, seed);
        x = swap_bytes(majority(x, y, i)) + lane();
    }
    results[i] = x ^ y;
}
