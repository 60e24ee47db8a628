// Convolution of an image with a small square mask; beyond the image are zeros. One thread per pixel, by its number.
extern "C" __global__ void convolve(const unsigned int *__restrict__ image, const float *__restrict__ mask,
                                    unsigned int *__restrict__ result, int rows, int columns, int side)
{
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= rows * columns)
        return;
    const int left = max(pixel % columns - side / 2, 0);
    const int right = min(pixel % columns + side / 2, columns - 1);
    const int top = max(pixel / columns - side / 2, 0);
    const int bottom = min(pixel / columns + side / 2, rows - 1);
    const float *centre = mask + side / 2 * side + side / 2 - pixel / columns * side - pixel % columns;

    float sum = 0.0f;
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++)
            sum += image[y * columns + x] * centre[y * side + x];
    result[pixel] = sum + 0.5f;
}
