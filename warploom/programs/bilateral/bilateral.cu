// Bilateral filter of a grey image: the mean of a pixel's neighbours, weighted by nearness in the image (a table) and
// in brightness (a bell curve, by a Taylor series). One thread per pixel; beyond the border the image goes on as there.
#define RADIUS 3
#define SIDE (2 * RADIUS + 1)

__constant__ float nearness[SIDE * SIDE];

// exp(-x), where far less than exp(-6) does not matter: the series at x / 8, to the eighth power.
__device__ float decay(float x)
{
    const float y = fminf(x * 0.125f, 0.75f);
    const float root = fmaf(y, fmaf(y, fmaf(y, -1.0f / 6.0f, 0.5f), -1.0f), 1.0f);
    const float square = root * root;
    const float fourth = square * square;
    return fourth * fourth;
}

extern "C" __global__ void bilateral(const unsigned char *__restrict__ image, unsigned char *__restrict__ result,
                                     int rows, int columns, float sharpness)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows)
        return;
    const float centre = image[y * columns + x];
    float sum = 0.0f, total = 0.0f;
#pragma unroll 1
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int row = min(max(y + i / SIDE - RADIUS, 0), rows - 1);
        const int column = min(max(x + i % SIDE - RADIUS, 0), columns - 1);
        const float value = image[row * columns + column];
        const float difference = value - centre;
        const float likeness = decay(difference * difference * sharpness);
        sum = fmaf(nearness[i] * likeness, value, sum);
        total = fmaf(nearness[i], likeness, total);
    }
    result[y * columns + x] = sum / total + 0.5f;
}
