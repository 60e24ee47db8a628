// Needleman-Wunsch: scores of the best alignment of all beginnings of two sequences, by tiles of 16 x 16.
//
// Tiles on one diagonal of the matrix are independent: a launch computes them, one block of 16 threads each, and goes
// through each tile diagonal by diagonal. `score` has a row and a column more than the sequences are long.
#define SIDE 16

__device__ void align(int *score, const int *__restrict__ similarity, int width, int penalty, int tile_x, int tile_y)
{
    __shared__ int scores[SIDE + 1][SIDE + 1];
    __shared__ int similar[SIDE][SIDE];
    const int lane = threadIdx.x;
    int *corner = score + tile_y * SIDE * width + tile_x * SIDE;
    const int *from = similarity + tile_y * SIDE * (width - 1) + tile_x * SIDE;

    for (int i = 0; i < SIDE; i++)
        similar[i][lane] = from[i * (width - 1) + lane];
    if (lane == 0)
        scores[0][0] = corner[0];
    scores[0][lane + 1] = corner[lane + 1];
    scores[lane + 1][0] = corner[(lane + 1) * width];
    __syncthreads();

    for (int diagonal = 0; diagonal < 2 * SIDE - 1; diagonal++) {
        const int x = lane, y = diagonal - lane;
        if (0 <= y && y < SIDE)
            scores[y + 1][x + 1] = max(scores[y][x] + similar[y][x],
                                       max(scores[y + 1][x], scores[y][x + 1]) - penalty);
        __syncthreads();
    }
    for (int i = 0; i < SIDE; i++)
        corner[(i + 1) * width + lane + 1] = scores[i + 1][lane + 1];
}

// A diagonal above the longest one, or that: it begins at the left edge of the matrix.
extern "C" __global__ void align_upper(int *score, const int *__restrict__ similarity, int width, int penalty,
                                       int diagonal)
{
    align(score, similarity, width, penalty, blockIdx.x, diagonal - blockIdx.x);
}

// A diagonal below the longest one: it begins at the lower edge of the matrix.
extern "C" __global__ void align_lower(int *score, const int *__restrict__ similarity, int width, int penalty,
                                       int diagonal)
{
    const int last = (width - 1) / SIDE - 1;
    align(score, similarity, width, penalty, diagonal - last + blockIdx.x, last - blockIdx.x);
}
