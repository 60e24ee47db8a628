// Discrete cosine transform of an image by squares of 8 x 8: the product basis * square * transposed basis.
//
// Block: 8 x 8, one thread per element.
#define SIDE 8

extern "C" __global__ void dct(const float *__restrict__ image, const float *__restrict__ basis,
                               float *__restrict__ result, int columns)
{
    __shared__ float half_way[SIDE][SIDE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int corner = blockIdx.y * SIDE * columns + blockIdx.x * SIDE;

    float sum = 0.0f;
    for (int k = 0; k < SIDE; k++)
        sum += basis[y * SIDE + k] * image[corner + k * columns + x];
    half_way[y][x] = sum;
    __syncthreads();

    sum = 0.0f;
    for (int k = 0; k < SIDE; k++)
        sum += half_way[y][k] * basis[x * SIDE + k];
    result[corner + y * columns + x] = sum;
}
