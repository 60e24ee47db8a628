// Blurs the pixels of a grey image that a mask selects, and copies the others. The weights are 1 2 1, 2 4 2, 1 2 1.
// One thread per pixel; pixels of the border are copied.
extern "C" __global__ void mfilt(const unsigned char *__restrict__ image, const unsigned char *__restrict__ mask,
                                 unsigned char *__restrict__ result, int rows, int columns)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows)
        return;
    const int here = y * columns + x;
    const bool inside = x > 0 && y > 0 && x < columns - 1 && y < rows - 1;
    if (!inside || !mask[here]) {
        result[here] = image[here];
        return;
    }
    int sum = 0;
#pragma unroll 1
    for (int dy = -1; dy <= 1; dy++) {
        const unsigned char *row = image + here + dy * columns;
        const int weight = 2 - abs(dy);
        sum += weight * (row[-1] + 2 * row[0] + row[1]);
    }
    result[here] = sum / 16;
}
