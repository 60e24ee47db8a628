// c = alpha * a * b + beta * c. a and c are stored by columns, b by rows.
//
// Block: 128 threads, which make 128 rows and 16 columns of c: each thread one row, its 16 sums in registers.
// A tile of b (8 x 16) goes through shared memory; a is read where it is used.
#define ROWS 128
#define COLUMNS 16
#define DEPTH 8

extern "C" __global__ void sgemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                 int rows, int columns, int inner, float alpha, float beta)
{
    __shared__ float tile[DEPTH][COLUMNS];
    const int row = blockIdx.x * ROWS + threadIdx.x;
    const int first = blockIdx.y * COLUMNS;
    const int tile_row = threadIdx.x / COLUMNS, tile_column = threadIdx.x % COLUMNS;

    float sums[COLUMNS] = {};
#pragma unroll 1
    for (int k = 0; k < inner; k += DEPTH) {
        tile[tile_row][tile_column] = b[(k + tile_row) * columns + first + tile_column];
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < DEPTH; i++) {
            const float factor = a[(k + i) * rows + row];
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                sums[j] += factor * tile[i][j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        float *result = &c[(first + j) * rows + row];
        *result = beta * *result + alpha * sums[j];
    }
}
