// Exclusive prefix sums of rows, one block for each: sums up a tree in shared memory, then down again.
//
// Block: half as many threads as a row has elements, a power of two. Dynamic shared memory: a row.
extern "C" __global__ void scan(const int *__restrict__ rows, int *__restrict__ sums)
{
    extern __shared__ int tree[];
    const int thread = threadIdx.x;
    const int size = 2 * blockDim.x;
    const int *row = rows + blockIdx.x * size;
    int *out = sums + blockIdx.x * size;
    tree[2 * thread] = row[2 * thread];
    tree[2 * thread + 1] = row[2 * thread + 1];

    int distance = 1;
    for (int busy = blockDim.x; busy > 0; busy /= 2) {
        __syncthreads();
        if (thread < busy)
            tree[distance * (2 * thread + 2) - 1] += tree[distance * (2 * thread + 1) - 1];
        distance *= 2;
    }
    if (thread == 0)
        tree[size - 1] = 0;
    for (int busy = 1; busy < size; busy *= 2) {
        distance /= 2;
        __syncthreads();
        if (thread < busy) {
            const int left = distance * (2 * thread + 1) - 1;
            const int right = left + distance;
            const int sum = tree[left];
            tree[left] = tree[right];
            tree[right] += sum;
        }
    }
    __syncthreads();
    out[2 * thread] = tree[2 * thread];
    out[2 * thread + 1] = tree[2 * thread + 1];
}
