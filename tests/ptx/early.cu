// nvcc -arch=compute_75 -ptx early.cu
// Threads beyond the size return before the barriers: whole warps, and part of one.
__global__ void early(const int *in, int *out, int *votes, int size) {
    __shared__ int values[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) {
        out[i] = -1;
        return;
    }
    values[threadIdx.x] = in[i];
    __syncthreads();
    int left = min(size - static_cast<int>(blockIdx.x * blockDim.x), static_cast<int>(blockDim.x));
    for (int width = 1; width < left; width *= 2) {
        int other = threadIdx.x + width < left ? values[threadIdx.x + width] : 0;
        __syncthreads();
        values[threadIdx.x] += other;
        __syncthreads();
    }
    int odd = __syncthreads_count(in[i] & 1);
    out[i] = values[threadIdx.x];
    if (threadIdx.x == 0) votes[blockIdx.x] = odd;
}
