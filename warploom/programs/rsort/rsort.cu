// Radix sort of 32-bit keys, three bits a pass, each pass in three kernels. A thread has `share` keys in sequence.
//
// Block: 64 threads. `counts` has a row of all threads for each digit.
#define DIGITS 8
#define THREADS 64

__device__ int digit_of(unsigned int key, int shift) { return key >> shift & DIGITS - 1; }

// How often each digit occurs in each thread's share, and in all.
extern "C" __global__ void count_digits(const unsigned int *__restrict__ keys, int n, int share, int shift, int *counts,
                                        int *totals)
{
    __shared__ int local[DIGITS][THREADS];
    const int me = threadIdx.x;
    const int thread = blockIdx.x * THREADS + me;
    for (int digit = 0; digit < DIGITS; digit++)
        local[digit][me] = 0;
    for (int i = thread * share; i < min((thread + 1) * share, n); i++)
        local[digit_of(keys[i], shift)][me]++;
    for (int digit = 0; digit < DIGITS; digit++) {
        counts[digit * gridDim.x * THREADS + thread] = local[digit][me];
        if (local[digit][me])
            atomicAdd(&totals[digit], local[digit][me]);
    }
}

// Counts become first positions in the sorted order: a block for each digit adds up its row, THREADS counts at a time.
extern "C" __global__ void positions_from_counts(int *counts, const int *__restrict__ totals, int threads)
{
    __shared__ int sums[THREADS];
    const int me = threadIdx.x;
    int *row = counts + blockIdx.x * threads;
    int before = 0;
    for (int digit = 0; digit < blockIdx.x; digit++)
        before += totals[digit];

    for (int first = 0; first < threads; first += THREADS) {
        const int count = row[first + me];
        sums[me] = count;
        __syncthreads();
        for (int distance = 1; distance < THREADS; distance *= 2) {
            const int left = me >= distance ? sums[me - distance] : 0;
            __syncthreads();
            sums[me] += left;
            __syncthreads();
        }
        row[first + me] = before + sums[me] - count;
        before += sums[THREADS - 1];
        __syncthreads();
    }
}

// Each thread puts its keys in their places, in sequence.
extern "C" __global__ void move_keys(const unsigned int *__restrict__ keys, unsigned int *__restrict__ sorted, int n,
                                     int share, int shift, const int *__restrict__ positions)
{
    __shared__ int next[DIGITS][THREADS];
    const int me = threadIdx.x;
    const int thread = blockIdx.x * THREADS + me;
    for (int digit = 0; digit < DIGITS; digit++)
        next[digit][me] = positions[digit * gridDim.x * THREADS + thread];
    for (int i = thread * share; i < min((thread + 1) * share, n); i++)
        sorted[next[digit_of(keys[i], shift)][me]++] = keys[i];
}
