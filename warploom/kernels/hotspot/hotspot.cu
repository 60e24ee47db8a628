// One step of heat flow on a chip: a 5-point stencil over a grid of cells, the border insulated.
//
// Block: any rectangle; one thread per cell. Dynamic shared memory: (blockDim.x + 2) * (blockDim.y + 2) floats,
// the block's tile with a halo of one cell. Corners of the halo are never read.
extern "C" __global__ void hotspot(const float *__restrict__ temperature, const float *__restrict__ power,
                                   float *__restrict__ result, int rows, int columns,
                                   float across, float along, float leak, float ambient)
{
    extern __shared__ float tile[];
    const int pitch = blockDim.x + 2;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int here = (threadIdx.y + 1) * pitch + threadIdx.x + 1;

    // A cell beyond the border has the temperature of the border: coordinates are clamped.
    const int column = min(x, columns - 1);
    const int row = min(y, rows - 1);
    tile[here] = temperature[row * columns + column];
    if (threadIdx.x == 0)
        tile[here - 1] = temperature[row * columns + max(column - 1, 0)];
    if (threadIdx.x == blockDim.x - 1)
        tile[here + 1] = temperature[row * columns + min(column + 1, columns - 1)];
    if (threadIdx.y == 0)
        tile[here - pitch] = temperature[max(row - 1, 0) * columns + column];
    if (threadIdx.y == blockDim.y - 1)
        tile[here + pitch] = temperature[min(row + 1, rows - 1) * columns + column];
    __syncthreads();

    if (x < columns && y < rows) {
        const float t = tile[here];
        const float flow_x = tile[here - 1] + tile[here + 1] - 2.0f * t;
        const float flow_y = tile[here - pitch] + tile[here + pitch] - 2.0f * t;
        result[y * columns + x] =
            t + (power[y * columns + x] + flow_x * across + flow_y * along + (ambient - t) * leak);
    }
}
