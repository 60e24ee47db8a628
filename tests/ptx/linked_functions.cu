// nvcc -arch=compute_75 -rdc=true -ptx linked_main.cu linked_functions.cu
#include "linked.h"

__device__ u32 counter = 5;
__constant__ u32 weights[4] = {100, 200, 300, 400};

static __device__ u32 table[2] = {40, 50};
static BOTH u32 own(u32 x) { return x * 11 + table[x & 1]; }

__device__ u32 (*chosen)(u32) = own;

BOTH u32 Shape::area(u32 scale) const { return size * scale + 1; }
BOTH u32 helper(u32 a, float b) { return own(a) + static_cast<u32>(b * 2) + mixed(a, a + 1); }
BOTH Row rotated(Row row, u32 by) {
    Row turned = row;
    for (u32 k = 0; k < 3; k++) turned.values[(k + by) % 3] = row.values[k];
    turned.kind += by;
    return turned;
}
