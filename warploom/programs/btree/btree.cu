// Search in a B+ tree: every block answers one query, its threads compare the query with all keys of a node at once.
//
// Node: keys[i] <= key < keys[i + 1] leads to children[i]: to a node, or, in a leaf, to the record with keys[i]. Nodes
// that are not full are padded with the largest key, so that no key lies between two of these. Block: ORDER threads.
#define ORDER 64

struct Node {
    int keys[ORDER + 1];
    int children[ORDER];
};

// Whether the key lies between this thread's key of the node and the next one.
__device__ bool is_mine(const Node &node, int key)
{
    return node.keys[threadIdx.x] <= key && key < node.keys[threadIdx.x + 1];
}

// The record with each key, or -1.
extern "C" __global__ void find(const Node *__restrict__ nodes, const int *__restrict__ records,
                                const int *__restrict__ keys, int *__restrict__ results, int levels)
{
    __shared__ int current;
    const int key = keys[blockIdx.x];
    if (threadIdx.x == 0) {
        current = 0;
        results[blockIdx.x] = -1;
    }
    __syncthreads();

    for (int level = 1; level < levels; level++) {
        const Node &node = nodes[current];
        __syncthreads();
        if (is_mine(node, key))
            current = node.children[threadIdx.x];
        __syncthreads();
    }
    const Node &leaf = nodes[current];
    if (leaf.keys[threadIdx.x] == key && is_mine(leaf, key))
        results[blockIdx.x] = records[leaf.children[threadIdx.x]];
}

// The first record of each range of keys, and the number of records in it: two searches down the tree side by side.
extern "C" __global__ void find_range(const Node *__restrict__ nodes, const int *__restrict__ starts,
                                      const int *__restrict__ ends, int *__restrict__ firsts,
                                      int *__restrict__ counts, int levels)
{
    __shared__ int low, high, first, last;
    const int start = starts[blockIdx.x];
    const int end = ends[blockIdx.x];
    if (threadIdx.x == 0)
        low = high = 0;
    __syncthreads();

    for (int level = 1; level < levels; level++) {
        const Node &low_node = nodes[low];
        const Node &high_node = nodes[high];
        __syncthreads();
        if (is_mine(low_node, start))
            low = low_node.children[threadIdx.x];
        if (is_mine(high_node, end))
            high = high_node.children[threadIdx.x];
        __syncthreads();
    }
    // A start between two keys belongs to the second of them.
    if (is_mine(nodes[low], start))
        first = nodes[low].children[threadIdx.x] + (nodes[low].keys[threadIdx.x] < start);
    if (is_mine(nodes[high], end))
        last = nodes[high].children[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        firsts[blockIdx.x] = first;
        counts[blockIdx.x] = last - first + 1;
    }
}
