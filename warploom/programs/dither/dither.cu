// Dithering of grey images to black and white, the error of each pixel spread over its neighbours to the right and
// below: 7/16 to the next, 3/16, 5/16 and 1/16 to the three in the next row. One block per image.
//
// A row runs two pixels behind the row above it, so that all pixels of such a diagonal can be done at once. White
// pixels stay white and pass no error on. `errors` has a border of zeros: one row above, a column on either side.
extern "C" __global__ void dither(const unsigned char *__restrict__ images, unsigned char *__restrict__ results,
                                  short *errors, int rows, int columns)
{
    const int pitch = columns + 2;
    const unsigned char *image = images + blockIdx.x * rows * columns;
    unsigned char *result = results + blockIdx.x * rows * columns;
    short *frame = errors + blockIdx.x * (rows + 1) * pitch;

#pragma unroll 1
    for (int step = 0; step < columns + 2 * (rows - 1); step++) {
        const int top = max(0, step - columns + 2) / 2, bottom = min(rows - 1, step / 2);
        for (int y = top + threadIdx.x; y <= bottom; y += blockDim.x) {
            const int x = step - 2 * y;
            const int grey = image[y * columns + x];
            short *error = frame + (y + 1) * pitch + x + 1;
            if (grey == 255) {
                result[y * columns + x] = 255;
                continue;
            }
            const short *above = error - pitch;
            const int wanted = grey + ((7 * error[-1] + above[-1] + 5 * above[0] + 3 * above[1]) >> 4);
            const int made = wanted < 128 ? 0 : 255;
            result[y * columns + x] = made;
            *error = wanted - made;
        }
        __syncthreads();
    }
}
