// One level of the 5/3 wavelet transform of an image, in integers, by lifting: every odd sample loses the mean of its
// neighbours, then every even sample gains a quarter of the differences beside it; first along rows, then columns.
//
// Block: 16 x 16, a tile of the result. The tile in shared memory has two more samples before it and one behind it.
// Beyond its borders the image is mirrored. Even samples go to the first half of the result, odd ones to the second.
#define SIDE 16
#define WIDE (SIDE + 3)

__device__ int mirrored(int i, int size)
{
    return i < size ? abs(i) : max(2 * size - 2 - i, 0);
}

__device__ void predict(int *sample, int step)
{
    *sample -= (sample[-step] + sample[step]) >> 1;
}

__device__ void update(int *sample, int step)
{
    *sample += (sample[-step] + sample[step] + 2) >> 2;
}

extern "C" __global__ void transform(const int *__restrict__ image, int *__restrict__ bands, int width, int height,
                                     int pitch)
{
    __shared__ int tile[WIDE][WIDE];
    const int thread = threadIdx.y * SIDE + threadIdx.x;
    const int left = blockIdx.x * SIDE - 2;
    const int top = blockIdx.y * SIDE - 2;
    for (int i = thread; i < WIDE * WIDE; i += SIDE * SIDE)
        tile[i / WIDE][i % WIDE] = image[mirrored(top + i / WIDE, height) * pitch + mirrored(left + i % WIDE, width)];
    __syncthreads();

    const int pairs = SIDE / 2;
    for (int i = thread; i < WIDE * (pairs + 1); i += SIDE * SIDE)
        predict(&tile[i % WIDE][2 * (i / WIDE) + 1], 1);
    __syncthreads();
    for (int i = thread; i < WIDE * pairs; i += SIDE * SIDE)
        update(&tile[i % WIDE][2 * (i / WIDE) + 2], 1);
    __syncthreads();
    for (int i = thread; i < SIDE * (pairs + 1); i += SIDE * SIDE)
        predict(&tile[2 * (i / SIDE) + 1][i % SIDE + 2], WIDE);
    __syncthreads();
    for (int i = thread; i < SIDE * pairs; i += SIDE * SIDE)
        update(&tile[2 * (i / SIDE) + 2][i % SIDE + 2], WIDE);
    __syncthreads();

    const int x = left + 2 + threadIdx.x;
    const int y = top + 2 + threadIdx.y;
    if (x < width && y < height)
        bands[(y / 2 + y % 2 * (height / 2)) * pitch + x / 2 + x % 2 * (width / 2)] =
            tile[threadIdx.y + 2][threadIdx.x + 2];
}
