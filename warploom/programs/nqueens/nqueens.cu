// Counts the ways to place queens, one a row, so that none attacks another. Each thread starts from a board whose first
// rows are filled, and tries all squares of the other rows by backtracking with a stack in shared memory.
//
// A row is a word with a bit per column: the columns taken, and those attacked along either diagonal.
#define THREADS 96
#define DEPTH 10

struct Row {
    unsigned int columns, left, right;
};

extern "C" __global__ void nqueens(const Row *__restrict__ starts, int boards, int size, int rows_left,
                                   unsigned int *__restrict__ solutions)
{
    __shared__ Row attacked[DEPTH][THREADS];
    __shared__ unsigned int untried[DEPTH][THREADS];
    __shared__ unsigned int found;
    const int me = threadIdx.x;
    const int board = blockIdx.x * THREADS + me;
    const unsigned int all = (1u << size) - 1;
    if (me == 0)
        found = 0;
    __syncthreads();

    if (board < boards) {
        unsigned int count = 0;
        int depth = 0;
        attacked[0][me] = starts[board];
        untried[0][me] = all & ~(starts[board].columns | starts[board].left | starts[board].right);
        while (depth >= 0) {
            const unsigned int squares = untried[depth][me];
            const unsigned int queen = squares & -squares;
            untried[depth][me] = squares ^ queen;
            if (!queen) {
                depth--;
            } else if (depth == rows_left - 1) {
                count++;
            } else {
                Row row = attacked[depth++][me];
                row.columns |= queen;
                row.left = (row.left | queen) << 1;
                row.right = (row.right | queen) >> 1;
                attacked[depth][me] = row;
                untried[depth][me] = all & ~(row.columns | row.left | row.right);
            }
        }
        atomicAdd(&found, count);
    }
    __syncthreads();
    if (me == 0)
        solutions[blockIdx.x] = found;
}
