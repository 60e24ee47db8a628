// AES-128 in electronic-codebook mode. Four threads encrypt a block of 16 bytes: each has one column of the state, a
// word whose lowest byte is row 0, and reads the other columns in shared memory.
//
// mixed[x] is column (2, 1, 1, 3) * S-box(x): a round looks up one byte of four columns each and rotates the results.
#define THREADS 128

__constant__ unsigned int mixed[256];
__constant__ unsigned int round_keys[44];

__device__ unsigned int byte_of(unsigned int word, int row) { return word >> 8 * row & 255; }

__device__ unsigned int rotated(unsigned int word, int rows) { return __funnelshift_l(word, word, 8 * rows); }

extern "C" __global__ void aes(const unsigned int *__restrict__ plain, unsigned int *__restrict__ cipher)
{
    __shared__ unsigned int table[256];
    __shared__ unsigned int state[THREADS];
    for (int i = threadIdx.x; i < 256; i += THREADS)
        table[i] = mixed[i];

    const int word = blockIdx.x * THREADS + threadIdx.x;
    const int column = threadIdx.x % 4;
    const unsigned int *block = state + threadIdx.x - column;
    state[threadIdx.x] = plain[word] ^ round_keys[column];
    __syncthreads();

#pragma unroll 1
    for (int round = 1; round < 10; round++) {
        unsigned int next = round_keys[4 * round + column];
        for (int row = 0; row < 4; row++)
            next ^= rotated(table[byte_of(block[(column + row) % 4], row)], row);
        __syncthreads();
        state[threadIdx.x] = next;
        __syncthreads();
    }

    unsigned int last = round_keys[40 + column];
    for (int row = 0; row < 4; row++)
        last ^= byte_of(table[byte_of(block[(column + row) % 4], row)], 1) << 8 * row;
    cipher[word] = last;
}
