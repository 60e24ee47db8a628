// Potential of charged atoms on a plane of a lattice, all of them counted. Atoms come in batches of constant memory;
// a launch adds one batch's potential. A thread has 8 points of a row, a block's width apart.
#define POINTS 8
#define BATCH 64

// x, y, the square of the distance from the plane, charge.
__constant__ float4 atoms[BATCH];

extern "C" __global__ void add_potential(float *__restrict__ potential, int columns, float spacing, int count)
{
    const int first = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const float x = __fmul_rn(first, spacing), y = __fmul_rn(row, spacing);
    const float stride = __fmul_rn(blockDim.x, spacing);

    float sums[POINTS] = {};
    for (int i = 0; i < count; i++) {
        const float4 atom = atoms[i];
        const float dy = y - atom.y;
        const float across = fmaf(dy, dy, atom.z);
        float dx = x - atom.x;
#pragma unroll
        for (int k = 0; k < POINTS; k++) {
            sums[k] = fmaf(atom.w, rsqrtf(fmaf(dx, dx, across)), sums[k]);
            dx += stride;
        }
    }
#pragma unroll
    for (int k = 0; k < POINTS; k++)
        potential[row * columns + first + k * blockDim.x] += sums[k];
}
