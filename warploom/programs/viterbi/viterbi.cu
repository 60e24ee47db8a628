// Viterbi decoder of a convolutional code with 64 states and two symbols (0 .. 255, soft) a bit. A warp decodes a
// frame; a thread updates two states in each step, the butterfly of states j and j + 32 into 2j and 2j + 1.
//
// Block: (32, frames). `expected` has for each butterfly the symbols of the way from j to 2j, in the low bits; those
// from j to 2j + 1, and from j + 32 to 2j, are opposite. Bit k of a decision tells which way led to state 2k (x) or
// 2k + 1 (y): 0 from k, 1 from k + 32.
#define STATES 64

extern "C" __global__ void viterbi(const uchar2 *__restrict__ symbols, const unsigned char *__restrict__ expected,
                                   uint2 *__restrict__ decisions, int steps)
{
    __shared__ int costs[2][8][STATES];
    const int j = threadIdx.x, frame = blockIdx.x * blockDim.y + threadIdx.y;
    symbols += frame * steps;
    decisions += frame * steps;

    int(*old)[STATES] = costs[0], (*now)[STATES] = costs[1];
    old[threadIdx.y][j] = j == 0 ? 0 : 10000;  // the encoder starts in state 0
    old[threadIdx.y][j + 32] = 10000;
    __syncthreads();

#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const uchar2 symbol = symbols[step];
        const int pattern = expected[j];
        const int same = (pattern & 1 ? 255 - symbol.x : symbol.x) + (pattern & 2 ? 255 - symbol.y : symbol.y);
        const int opposite = 510 - same;
        const int low = old[threadIdx.y][j], high = old[threadIdx.y][j + 32];
        const bool even = high + opposite < low + same;
        const bool odd = high + same < low + opposite;
        now[threadIdx.y][2 * j] = even ? high + opposite : low + same;
        now[threadIdx.y][2 * j + 1] = odd ? high + same : low + opposite;
        const uint2 decision = make_uint2(__ballot_sync(~0u, even), __ballot_sync(~0u, odd));
        if (j == 0)
            decisions[step] = decision;
        int(*spare)[STATES] = old;
        old = now;
        now = spare;
        __syncthreads();
    }
}
