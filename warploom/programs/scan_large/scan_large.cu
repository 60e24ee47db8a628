// Sums of all elements before each (exclusive scan) of a large array: blocks are scanned, then the sums of the blocks,
// which are then added to the elements of the blocks.
//
// Block: 64 threads, 128 elements. Shared memory has a gap after every 32 elements, so that elements a power of two
// apart are in different banks.
#define THREADS 64
#define ELEMENTS (2 * THREADS)

__device__ int gapped(int index) { return index + index / 32; }

// Scans a block's elements as a tree, and writes their sum. Elements from n on count as zeros.
extern "C" __global__ void scan_blocks(const int *__restrict__ values, int *__restrict__ result, int *__restrict__ sums,
                                       int n)
{
    __shared__ int tree[ELEMENTS + ELEMENTS / 32];
    const int me = threadIdx.x, first = blockIdx.x * ELEMENTS;
    for (int i = me; i < ELEMENTS; i += THREADS)
        tree[gapped(i)] = first + i < n ? values[first + i] : 0;

    for (int span = 1; span < ELEMENTS; span *= 2) {  // up: sums of pairs
        __syncthreads();
        const int right = 2 * span * (me + 1) - 1;
        if (right < ELEMENTS)
            tree[gapped(right)] += tree[gapped(right - span)];
    }
    __syncthreads();
    if (me == 0) {
        sums[blockIdx.x] = tree[gapped(ELEMENTS - 1)];
        tree[gapped(ELEMENTS - 1)] = 0;
    }
    for (int span = THREADS; span > 0; span /= 2) {  // down: what is before a pair is before its left half
        __syncthreads();
        const int right = 2 * span * (me + 1) - 1;
        if (right < ELEMENTS) {
            const int left_sum = tree[gapped(right - span)];
            tree[gapped(right - span)] = tree[gapped(right)];
            tree[gapped(right)] += left_sum;
        }
    }
    __syncthreads();
    for (int i = me; i < ELEMENTS && first + i < n; i += THREADS)
        result[first + i] = tree[gapped(i)];
}

// Adds to each element what is before its block.
extern "C" __global__ void add_sums(int *__restrict__ result, const int *__restrict__ before, int n)
{
    const int sum = before[blockIdx.x];
    for (int i = threadIdx.x; i < ELEMENTS && blockIdx.x * ELEMENTS + i < n; i += THREADS)
        result[blockIdx.x * ELEMENTS + i] += sum;
}
