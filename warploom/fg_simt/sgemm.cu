// c = alpha * a * b + beta * c for blocks of one warp. a and c are stored by columns, b by rows.
//
// Block: 32 threads, which make 32 rows and 16 columns of c: each thread one row, its 16 sums in registers. All threads
// read the same words of b.
#define ROWS 32
#define COLUMNS 16

extern "C" __global__ void sgemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                 int rows, int columns, int inner, float alpha, float beta)
{
    const int row = blockIdx.x * ROWS + threadIdx.x;
    const int first = blockIdx.y * COLUMNS;

    float sums[COLUMNS] = {};
#pragma unroll 1
    for (int k = 0; k < inner; k++) {
        const float factor = a[k * rows + row];
        const float *line = &b[k * columns + first];
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            sums[j] += factor * line[j];
    }
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        float *result = &c[(first + j) * rows + row];
        *result = beta * *result + alpha * sums[j];
    }
}
