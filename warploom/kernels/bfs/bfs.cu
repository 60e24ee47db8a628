// Breadth-first search: block b finds the distance, in edges, of every node from node b; -1 where there is no path.
//
// The graph is in compressed rows: the neighbours of node v are edges[offsets[v]] .. edges[offsets[v + 1] - 1].
// A level ends at a barrier. Several threads may discover a node in the same level; all write the same distance.
extern "C" __global__ void bfs(const int *__restrict__ offsets, const int *__restrict__ edges, int *distances,
                               int nodes)
{
    int *distance = distances + blockIdx.x * nodes;
    for (int v = threadIdx.x; v < nodes; v += blockDim.x)
        distance[v] = v == blockIdx.x ? 0 : -1;
    __syncthreads();

    int found = 1;
    for (int level = 0; found; level++) {
        found = 0;
        for (int v = threadIdx.x; v < nodes; v += blockDim.x) {
            if (distance[v] != level)
                continue;
#pragma unroll 1
            for (int e = offsets[v]; e < offsets[v + 1]; e++) {
                const int neighbour = edges[e];
                if (distance[neighbour] < 0) {
                    distance[neighbour] = level + 1;
                    found = 1;
                }
            }
        }
        found = __syncthreads_or(found);
    }
}
