// MD5 digests of all windows of 48 bytes in a stream of data, one a byte: chunks of a storage system end where a
// digest has a mark. One thread per window; a block's data go through shared memory.
#define THREADS 64
#define WORDS 12  // of a window

__constant__ unsigned int sines[64];  // the whole part of 2**32 * |sin(i + 1)|

__device__ void digest(unsigned int (&message)[16], unsigned int (&state)[4])
{
    constexpr int rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    constexpr int strides[4] = {1, 5, 3, 7}, starts[4] = {0, 1, 5, 0};
    unsigned int a = state[0], b = state[1], c = state[2], d = state[3];
#pragma unroll
    for (int i = 0; i < 64; i++) {
        const int round = i / 16;
        const unsigned int mixed = round == 0   ? (b & c) | (~b & d)
                                   : round == 1 ? (b & d) | (c & ~d)
                                   : round == 2 ? b ^ c ^ d
                                                : c ^ (b | ~d);
        const unsigned int sum = a + mixed + sines[i] + message[(starts[round] + strides[round] * i) % 16];
        const int rotation = rotations[round][i % 4];
        a = d;
        d = c;
        c = b;
        b += __funnelshift_l(sum, sum, rotation);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

extern "C" __global__ void sliding_digests(const unsigned int *__restrict__ data, uint4 *__restrict__ digests,
                                           int windows)
{
    __shared__ unsigned int staged[THREADS / 4 + WORDS];
    for (int i = threadIdx.x; i < THREADS / 4 + WORDS; i += THREADS)
        staged[i] = data[blockIdx.x * (THREADS / 4) + i];
    __syncthreads();
    const int window = blockIdx.x * THREADS + threadIdx.x;
    if (window >= windows)
        return;

    unsigned int message[16] = {};
    const unsigned int *first = staged + threadIdx.x / 4;
    for (int i = 0; i < WORDS; i++)
        message[i] = __funnelshift_r(first[i], first[i + 1], 8 * (threadIdx.x % 4));
    message[WORDS] = 0x80;  // the end of the message, then its length in bits
    message[14] = 32 * WORDS;

    unsigned int state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    digest(message, state);
    digests[window] = make_uint4(state[0], state[1], state[2], state[3]);
}
