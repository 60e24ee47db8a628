// Breadth-first search, one level of the graph in two launches; the host goes on while `*found` comes back set.
//
// Two kernels for each level let no thread see a node that another one finds at the same time: the first marks nodes
// as `reached`, the second puts them on the frontier.
struct Node {
    int first_edge, edges;
};

// Reaches the unvisited neighbours of the frontier; one thread per node.
extern "C" __global__ void expand(const Node *__restrict__ nodes, const int *__restrict__ edges, bool *frontier,
                                  bool *reached, const bool *__restrict__ visited, int *distances, int count)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= count || !frontier[v])
        return;
    frontier[v] = false;
    const Node node = nodes[v];
#pragma unroll 1
    for (int e = node.first_edge; e < node.first_edge + node.edges; e++) {
        const int neighbour = edges[e];
        if (!visited[neighbour]) {
            distances[neighbour] = distances[v] + 1;
            reached[neighbour] = true;
        }
    }
}

// Makes the reached nodes the next frontier.
extern "C" __global__ void advance(bool *frontier, bool *reached, bool *visited, bool *found, int count)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= count || !reached[v])
        return;
    frontier[v] = true;
    visited[v] = true;
    *found = true;
    reached[v] = false;
}
