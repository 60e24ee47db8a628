// Counts of a digit become first positions in the sorted order: a block of one warp for each digit adds up its row,
// THREADS counts at a time. What is left of the row's sums is in shared memory.
#define THREADS 32

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
