// Matches of DNA reads with a genome: for each position of each read, the longest piece from there on that occurs in
// the genome, found by walking down the genome's suffix tree. Bases are numbers from 0 to 3. One thread per read.
struct Node {
    int children[4];  // by the next base; 0: none
    int first, last;  // the edge to the node: genome[first] .. genome[last - 1]
};

struct Match {
    int length, position;
};

extern "C" __global__ void match_reads(const Node *__restrict__ tree, const unsigned char *__restrict__ genome,
                                       const unsigned char *const *__restrict__ reads, const int *__restrict__ lengths,
                                       int count, int pitch, Match *__restrict__ matches)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const unsigned char *read = reads[i];
    const int length = lengths[i];
    for (int start = 0; start < length; start++) {
        Match match = {0, 0};
        int node = 0;
        while (start + match.length < length) {
            node = tree[node].children[read[start + match.length]];
            if (!node)
                break;
            int edge = tree[node].first;
            const int last = tree[node].last;
            match.position = edge - match.length;
            while (edge < last && start + match.length < length && genome[edge] == read[start + match.length]) {
                edge++;
                match.length++;
            }
            if (edge < last)
                break;
        }
        matches[i * pitch + start] = match;
    }
}
