// nvcc -arch=compute_75 -rdc=true -ptx linked_main.cu linked_functions.cu
#include "linked.h"

static BOTH u32 own(u32 x) { return x + 1; }
static __device__ u32 table[3] = {7, 8, 9};

BOTH u32 all(u32 i) {
    Shape shape;
    shape.size = i;
    Shape *pointer = &shape;
    Row row = rotated({{i, i + 1, i + 2}, 7}, i);
    u32 sum = helper(i, i * 0.5f) + own(i) + table[i % 3] + weights[i % 4] + counter;
    sum = mixed(sum, row.values[0] + 3 * row.values[1] + row.kind);
    return sum + pointer->area(i) + pointer->twice(3) + chosen(i);
}

#ifdef __CUDACC__
extern "C" __global__ void linked(u32 *out) { out[threadIdx.x] = all(threadIdx.x); }
#else
#include <cstdio>
int main() {
    for (u32 i = 0; i < 64; i++) {
        u32 value = all(i);
        fwrite(&value, sizeof value, 1, stdout);
    }
}
#endif
