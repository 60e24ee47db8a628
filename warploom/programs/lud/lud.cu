// LU decomposition in place, by blocks of 16 x 16: for each step along the diagonal its block, then the blocks beside
// and below it, then all blocks of the rest. L has ones on the diagonal, which are not stored.
#define SIDE 16

// The block on the diagonal; 16 threads, ever fewer of them busy.
extern "C" __global__ void diagonal(float *matrix, int size, int first)
{
    __shared__ float tile[SIDE][SIDE];
    const int lane = threadIdx.x;
    float *corner = matrix + first * size + first;
    for (int i = 0; i < SIDE; i++)
        tile[i][lane] = corner[i * size + lane];
    __syncthreads();

    for (int i = 0; i < SIDE - 1; i++) {
        if (lane > i) {
            for (int j = 0; j < i; j++)
                tile[lane][i] = fmaf(-tile[lane][j], tile[j][i], tile[lane][i]);
            tile[lane][i] /= tile[i][i];
        }
        __syncthreads();
        if (lane > i)
            for (int j = 0; j <= i; j++)
                tile[i + 1][lane] = fmaf(-tile[i + 1][j], tile[j][lane], tile[i + 1][lane]);
        __syncthreads();
    }
    for (int i = 1; i < SIDE; i++)
        corner[i * size + lane] = tile[i][lane];
}

// One block to the right of the diagonal and one below it; 16 of the 32 threads for each.
extern "C" __global__ void perimeter(float *matrix, int size, int first)
{
    __shared__ float corner[SIDE][SIDE], right[SIDE][SIDE], below[SIDE][SIDE];
    const int lane = threadIdx.x % SIDE;
    const bool is_right = threadIdx.x < SIDE;
    const int away = (blockIdx.x + 1) * SIDE;
    float *at_corner = matrix + first * size + first;
    float *at_right = at_corner + away;
    float *at_below = at_corner + away * size;

    if (is_right) {
        for (int i = 0; i < SIDE / 2; i++)
            corner[i][lane] = at_corner[i * size + lane];
        for (int i = 0; i < SIDE; i++)
            right[i][lane] = at_right[i * size + lane];
    } else {
        for (int i = SIDE / 2; i < SIDE; i++)
            corner[i][lane] = at_corner[i * size + lane];
        for (int i = 0; i < SIDE; i++)
            below[i][lane] = at_below[i * size + lane];
    }
    __syncthreads();

    if (is_right) {
        for (int i = 1; i < SIDE; i++)
            for (int j = 0; j < i; j++)
                right[i][lane] = fmaf(-corner[i][j], right[j][lane], right[i][lane]);
    } else {
        for (int i = 0; i < SIDE; i++) {
            for (int j = 0; j < i; j++)
                below[lane][i] = fmaf(-below[lane][j], corner[j][i], below[lane][i]);
            below[lane][i] /= corner[i][i];
        }
    }
    __syncthreads();

    for (int i = 0; i < SIDE; i++)
        if (is_right)
            at_right[i * size + lane] = right[i][lane];
        else
            at_below[i * size + lane] = below[i][lane];
}

// The rest of the matrix: minus the product of the blocks at its left and upper edge; one thread per element.
extern "C" __global__ void internal(float *matrix, int size, int first)
{
    __shared__ float left[SIDE][SIDE], upper[SIDE][SIDE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = first + (blockIdx.y + 1) * SIDE + y;
    const int column = first + (blockIdx.x + 1) * SIDE + x;
    left[y][x] = matrix[row * size + first + x];
    upper[y][x] = matrix[(first + y) * size + column];
    __syncthreads();

    float sum = 0.0f;
    for (int i = 0; i < SIDE; i++)
        sum += left[y][i] * upper[i][x];
    matrix[row * size + column] -= sum;
}
