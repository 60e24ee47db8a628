// Gaussian elimination of a dense system a * x = b, two launches for each column.
//
// Both grids span the whole system for every column: as the elimination advances, ever more threads have nothing to do.

// Factors by which the pivot's row is taken from the rows below it; one thread per row.
extern "C" __global__ void factors_of_column(const float *__restrict__ a, float *__restrict__ factors, int size,
                                             int column)
{
    const int row = column + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < size)
        factors[row] = a[row * size + column] / a[column * size + column];
}

// Takes the pivot's row from the rows below it; one thread per element.
extern "C" __global__ void eliminate(float *a, float *b, const float *__restrict__ factors, int size, int column)
{
    const int row = column + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    const int x = column + blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= size || x >= size)
        return;
    const float factor = factors[row];
    a[row * size + x] = fmaf(-factor, a[column * size + x], a[row * size + x]);
    if (x == column)
        b[row] = fmaf(-factor, b[column], b[row]);
}
