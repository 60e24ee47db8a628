// Kernels whose blocks wait for each other, compiled with nvcc -ptx -arch=sm_80.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each round moves all numbers by one place; block 0 works longer than the others, behind the code where they wait.
extern "C" __global__ void rounds(int* x, int* work, int count) {
    const cg::grid_group grid = cg::this_grid();
    const unsigned i = grid.thread_rank();
    for (int round = 0; round < count; ++round) {
        const int next = x[(i + 1) % grid.size()];
        grid.sync();
        x[i] = next;
        grid.sync();
        if (blockIdx.x == 0)
#pragma unroll 1
            for (int step = 0; step < 100; ++step) work[i] = work[i] * 3 + step;
    }
}

// Only some blocks come to the barrier.
extern "C" __global__ void alone() {
    if (blockIdx.x) cg::this_grid().sync();
}
