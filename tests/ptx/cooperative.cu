// Cooperative groups that use instructions of compute_80: nvcc -ptx -arch=compute_80 cooperative.cu
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// A tile of two warps, which meet through reserved shared memory.
extern "C" __global__ void tiles(int *out, const int *in) {
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    tile.sync();
    out[threadIdx.x] = tile.thread_rank() + tile.shfl(in[threadIdx.x], 3);
}

// Of the odd lanes the third by rank.
extern "C" __global__ void coalesced(int *out) {
    if (threadIdx.x & 1) {
        auto group = cg::coalesced_threads();
        out[threadIdx.x] = group.thread_rank() * 100 + group.shfl(threadIdx.x, 2);
    }
}

extern "C" __global__ void copies(int *out, const int *in) {
    __shared__ int all[128];
    __shared__ int4 padded[32];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, all, in, sizeof(all));
    if (threadIdx.x < 32) {
        __pipeline_memcpy_async(&padded[threadIdx.x], &((const int4 *)in)[threadIdx.x], 16, 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
    }
    cg::wait(block);
    out[threadIdx.x] = all[127 - threadIdx.x] - ((const int *)padded)[threadIdx.x];
}
