// Matrix product c = a * b, row-major, by square tiles in shared memory.
//
// Block: square, its side the tile's; every extent of the matrices is a multiple of it.
// Dynamic shared memory: 2 * side * side floats, a tile of each factor.
extern "C" __global__ void matmul(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                  int inner, int columns)
{
    extern __shared__ float tiles[];
    const int side = blockDim.x;
    float *tile_a = tiles;
    float *tile_b = tiles + side * side;
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * side + y;
    const int column = blockIdx.x * side + x;

    float sum = 0.0f;
    for (int first = 0; first < inner; first += side) {
        tile_a[y * side + x] = a[row * inner + first + x];
        tile_b[y * side + x] = b[(first + y) * columns + column];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < side; k++)
            sum += tile_a[y * side + k] * tile_b[k * side + x];
        __syncthreads();
    }
    c[row * columns + column] = sum;
}
