// Transpose of a matrix through tiles of 32 x 32 in shared memory, so that loads and stores are of whole rows.
//
// Block: 32 x 8; a thread moves four elements. The tile's rows have an unused element each: so its columns lie in
// different banks. Extents need not be multiples of 32.
#define SIDE 32
#define ROWS 8

extern "C" __global__ void transpose(const float *__restrict__ in, float *__restrict__ out, int rows, int columns)
{
    __shared__ float tile[SIDE][SIDE + 1];
    const int x = blockIdx.x * SIDE + threadIdx.x;
    const int y = blockIdx.y * SIDE + threadIdx.y;
    for (int i = 0; i < SIDE; i += ROWS)
        if (x < columns && y + i < rows)
            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * columns + x];
    __syncthreads();

    const int row = blockIdx.x * SIDE + threadIdx.y;
    const int column = blockIdx.y * SIDE + threadIdx.x;
    for (int i = 0; i < SIDE; i += ROWS)
        if (column < rows && row + i < columns)
            out[(row + i) * rows + column] = tile[threadIdx.x][threadIdx.y + i];
}
