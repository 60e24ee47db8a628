// Speckle-reducing anisotropic diffusion: a step of it in two launches. Differences are strong along edges of the
// image, and there it diffuses little.
//
// Block: 16 x 16, a tile in shared memory with a halo of one pixel; beyond its borders the image continues its edge.
#define SIDE 16

// Fills the tile and those of its neighbours that a stencil of five needs.
__device__ void load(float tile[SIDE + 2][SIDE + 2], const float *image, int rows, int columns)
{
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    const int column = blockIdx.x * SIDE + threadIdx.x;
    const int row = blockIdx.y * SIDE + threadIdx.y;
    tile[y][x] = image[row * columns + column];
    if (threadIdx.x == 0)
        tile[y][0] = image[row * columns + max(column - 1, 0)];
    if (threadIdx.x == SIDE - 1)
        tile[y][SIDE + 1] = image[row * columns + min(column + 1, columns - 1)];
    if (threadIdx.y == 0)
        tile[0][x] = image[max(row - 1, 0) * columns + column];
    if (threadIdx.y == SIDE - 1)
        tile[SIDE + 1][x] = image[min(row + 1, rows - 1) * columns + column];
    __syncthreads();
}

// Differences to the four neighbours, and the coefficient of diffusion, 0 to 1.
extern "C" __global__ void coefficients(const float *__restrict__ image, float *__restrict__ norths,
                                        float *__restrict__ souths, float *__restrict__ wests,
                                        float *__restrict__ easts, float *__restrict__ diffusion, int rows,
                                        int columns, float speckle)
{
    __shared__ float tile[SIDE + 2][SIDE + 2];
    load(tile, image, rows, columns);
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    const int pixel = (blockIdx.y * SIDE + threadIdx.y) * columns + blockIdx.x * SIDE + threadIdx.x;

    const float here = tile[y][x];
    const float north = tile[y - 1][x] - here;
    const float south = tile[y + 1][x] - here;
    const float west = tile[y][x - 1] - here;
    const float east = tile[y][x + 1] - here;
    const float squares = fmaf(east, east, fmaf(west, west, fmaf(south, south, north * north)));
    const float gradient = squares / (here * here);
    const float laplacian = (north + south + west + east) / here;

    const float variation = fmaf(-0.0625f * laplacian, laplacian, 0.5f * gradient);
    const float scale = fmaf(0.25f, laplacian, 1.0f);
    const float excess = (variation / (scale * scale) - speckle) / (speckle * (1.0f + speckle));
    norths[pixel] = north;
    souths[pixel] = south;
    wests[pixel] = west;
    easts[pixel] = east;
    diffusion[pixel] = fminf(fmaxf(1.0f / (1.0f + excess), 0.0f), 1.0f);
}

// Moves every pixel by what flows to it; between two pixels the coefficient of the southern or eastern one holds.
extern "C" __global__ void diffuse(float *image, const float *__restrict__ norths, const float *__restrict__ souths,
                                   const float *__restrict__ wests, const float *__restrict__ easts,
                                   const float *__restrict__ diffusion, int rows, int columns, float rate)
{
    __shared__ float tile[SIDE + 2][SIDE + 2];
    load(tile, diffusion, rows, columns);
    const int x = threadIdx.x + 1, y = threadIdx.y + 1;
    const int pixel = (blockIdx.y * SIDE + threadIdx.y) * columns + blockIdx.x * SIDE + threadIdx.x;

    float flow = tile[y][x] * norths[pixel];
    flow = fmaf(tile[y + 1][x], souths[pixel], flow);
    flow = fmaf(tile[y][x], wests[pixel], flow);
    flow = fmaf(tile[y][x + 1], easts[pixel], flow);
    image[pixel] = fmaf(0.25f * rate, flow, image[pixel]);
}
