// One step of Jacobi's method for Laplace's equation in three dimensions: each inner point becomes the mean of its six
// neighbours. The boundary stays.
//
// Block: 32 x 4 threads, a column of the volume each, from below to above. Three planes of a block's points, with a
// halo of one, go through shared memory in turn.
#define WIDTH 32
#define HEIGHT 4
#define PITCH (WIDTH + 2)
#define TILE (PITCH * (HEIGHT + 2))

extern "C" __global__ void laplace3d(const float *__restrict__ old, float *__restrict__ result, int columns, int rows,
                                     int planes)
{
    __shared__ float tiles[3][TILE];
    const int lane = threadIdx.y * WIDTH + threadIdx.x;
    const int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    const int here = (threadIdx.y + 1) * PITCH + threadIdx.x + 1;
    const bool inside = x < columns && y < rows;
    const bool inner = x > 0 && x < columns - 1 && y > 0 && y < rows - 1;

#pragma unroll 1
    for (int z = 0; z <= planes; z++) {
        if (z < planes) {
            for (int i = lane; i < TILE; i += WIDTH * HEIGHT) {
                const int column = (int)blockIdx.x * WIDTH + i % PITCH - 1;
                const int row = (int)blockIdx.y * HEIGHT + i / PITCH - 1;
                if (column >= 0 && column < columns && row >= 0 && row < rows)
                    tiles[z % 3][i] = old[(z * rows + row) * columns + column];
            }
        }
        __syncthreads();
        if (z > 0 && inside) {  // the plane before, whose neighbours above have just come
            const float *tile = tiles[(z - 1) % 3];
            float value = tile[here];
            if (inner && z > 1 && z < planes)
                value = (tile[here - 1] + tile[here + 1] + tile[here - PITCH] + tile[here + PITCH] +
                         tiles[(z - 2) % 3][here] + tiles[z % 3][here]) * (1.0f / 6.0f);
            result[((z - 1) * rows + y) * columns + x] = value;
        }
        __syncthreads();
    }
}
