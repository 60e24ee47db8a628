// Median of each pixel's 3 x 3 neighbourhood in a grey image: the first of the nine that has at most four smaller and
// at most four greater ones. One thread per pixel; the image has a border of one pixel that gets no result.
extern "C" __global__ void median(const unsigned char *__restrict__ image, unsigned char *__restrict__ result,
                                  int rows, int columns)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows)
        return;
    const unsigned char *corner = image + y * (columns + 2) + x;
    int window[9];
    for (int i = 0; i < 9; i++)
        window[i] = corner[i / 3 * (columns + 2) + i % 3];

    int candidate = 0;
#pragma unroll 1
    for (int i = 0; i < 9; i++) {
        candidate = corner[i / 3 * (columns + 2) + i % 3];
        int smaller = 0, greater = 0;
        for (int j = 0; j < 9; j++) {
            smaller += window[j] < candidate;
            greater += window[j] > candidate;
        }
        if (smaller <= 4 && greater <= 4)
            break;
    }
    result[y * columns + x] = candidate;
}
