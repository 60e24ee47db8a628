// Division of 128 bits, which nvcc compiles to code that reads the carry flag of subc by addc.
// nvcc -arch=compute_75 -ptx division.cu
typedef unsigned long long u64;
typedef unsigned __int128 u128;

extern "C" __global__ void divide(const u64 *in, u64 *out) {
    int t = 4 * threadIdx.x;
    u128 dividend = (u128)in[t + 1] << 64 | in[t], divisor = (u128)in[t + 3] << 64 | in[t + 2];
    u128 quotient = dividend / divisor, remainder = dividend % divisor;
    out[t] = (u64)quotient;
    out[t + 1] = (u64)(quotient >> 64);
    out[t + 2] = (u64)remainder;
    out[t + 3] = (u64)(remainder >> 64);
}
