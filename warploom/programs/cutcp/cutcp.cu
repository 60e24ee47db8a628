// Potential of charged atoms on a lattice, without those farther away than a cutoff distance.
//
// Atoms are in bins, cubes as large as the part of the lattice (8 x 8 x 8 points) that a block computes. A thread has
// a column of 8 points. Bins have a border of empty ones; an atom without charge ends a bin.
#define SIDE 8
#define CAPACITY 8
#define MOST_NEIGHBOURS 128

__constant__ int neighbours[MOST_NEIGHBOURS];

extern "C" __global__ void cutcp(const float4 *__restrict__ bins, float *__restrict__ potential, int neighbour_count,
                                 float spacing, float cutoff_squared)
{
    __shared__ float4 atoms[CAPACITY];
    const int lane = threadIdx.y * SIDE + threadIdx.x;
    const int bin = ((blockIdx.z + 1) * (gridDim.y + 2) + blockIdx.y + 1) * (gridDim.x + 2) + blockIdx.x + 1;
    const float x = __fmul_rn(blockIdx.x * SIDE + threadIdx.x, spacing);
    const float y = __fmul_rn(blockIdx.y * SIDE + threadIdx.y, spacing);
    const float z = __fmul_rn(blockIdx.z * SIDE, spacing);
    const float per_square = 1.0f / cutoff_squared;

    float sums[SIDE] = {};
#pragma unroll 1
    for (int i = 0; i < neighbour_count; i++) {
        __syncthreads();
        if (lane < CAPACITY)
            atoms[lane] = bins[(bin + neighbours[i]) * CAPACITY + lane];
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < CAPACITY && atoms[j].w != 0.0f; j++) {
            const float4 atom = atoms[j];
            const float dx = atom.x - x, dy = atom.y - y;
            const float across = dx * dx + dy * dy;
            if (across >= cutoff_squared)
                continue;
#pragma unroll
            for (int k = 0; k < SIDE; k++) {
                const float dz = atom.z - (z + k * spacing);
                const float square = fmaf(dz, dz, across);
                if (square < cutoff_squared) {
                    const float taper = fmaf(-square, per_square, 1.0f);
                    sums[k] += atom.w * rsqrtf(square) * taper * taper;
                }
            }
        }
    }

    const int columns = gridDim.x * SIDE, rows = gridDim.y * SIDE;
    const int here = (blockIdx.y * SIDE + threadIdx.y) * columns + blockIdx.x * SIDE + threadIdx.x;
#pragma unroll
    for (int k = 0; k < SIDE; k++)
        potential[(blockIdx.z * SIDE + k) * rows * columns + here] = sums[k];
}
