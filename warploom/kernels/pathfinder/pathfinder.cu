#include <climits>

// Cheapest way down a wall, by dynamic programming: from a cell one steps to the one below or to its neighbours.
// One launch advances `steps` rows: cost[j] = wall[row][j] + min(cost[j - 1], cost[j], cost[j + 1]).
//
// A block keeps its columns in shared memory for all rows. Its outer columns lack a neighbour, and the error moves
// inward by one column a row: so a block starts with `steps` columns more on either side than it writes back.
// Dynamic shared memory: blockDim.x ints.
extern "C" __global__ void pathfinder(const int *__restrict__ wall, const int *__restrict__ start,
                                      int *__restrict__ result, int columns, int steps)
{
    extern __shared__ int cost[];
    const int useful = blockDim.x - 2 * steps;
    const int lane = threadIdx.x;
    const int column = blockIdx.x * useful + lane - steps;
    const bool inside = column >= 0 && column < columns;
    const int left = max(lane - 1, 0);
    const int right = min(lane + 1, (int)blockDim.x - 1);

    cost[lane] = inside ? start[column] : INT_MAX;  // nobody walks beyond the wall
    __syncthreads();
#pragma unroll 1
    for (int row = 0; row < steps; row++) {
        int best = INT_MAX;
        if (inside)
            best = min(cost[lane], min(cost[left], cost[right])) + wall[row * columns + column];
        __syncthreads();
        cost[lane] = best;
        __syncthreads();
    }
    if (inside && lane >= steps && lane < steps + useful)
        result[column] = cost[lane];
}
