// Sums of absolute differences between the blocks of a frame and those of another frame, moved by every offset of a
// search range: what motion estimation of a video coder compares.
#define SIDE 16      // of a macroblock
#define PIXELS 4     // along the smallest blocks
#define BLOCKS 16    // of these in a macroblock

// The row and the column of a small block in its macroblock. Blocks are numbered so that four in sequence are a square.
__device__ int row_of(int block) { return (block >> 1 & 1) + (block >> 3 << 1); }
__device__ int column_of(int block) { return (block & 1) + (block >> 2 & 1) * 2; }

// One block of threads per macroblock, one thread per offset. `other` has a border of `range` pixels.
// sads[macroblock][block][offset]
extern "C" __global__ void compare_blocks(const unsigned char *__restrict__ frame, const unsigned char *__restrict__ other,
                                          unsigned short *__restrict__ sads, int range)
{
    __shared__ unsigned char macroblock[SIDE][SIDE];
    const int columns = gridDim.x * SIDE, pitch = columns + 2 * range;
    const int x = blockIdx.x * SIDE, y = blockIdx.y * SIDE;
#pragma unroll 1
    for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x)
        macroblock[i / SIDE][i % SIDE] = frame[(y + i / SIDE) * columns + x + i % SIDE];
    __syncthreads();

    const int across = 2 * range + 1, offsets = across * across, offset = threadIdx.x;
    if (offset >= offsets)
        return;
    const unsigned char *moved = other + (y + offset / across) * pitch + x + offset % across;
    sads += (blockIdx.y * gridDim.x + blockIdx.x) * BLOCKS * offsets + offset;
#pragma unroll 4
    for (int block = 0; block < BLOCKS; block++) {
        const int top = row_of(block) * PIXELS, left = column_of(block) * PIXELS;
        unsigned int sum = 0;
#pragma unroll
        for (int row = top; row < top + PIXELS; row++) {
            const unsigned char *line = moved + row * pitch + left;
#pragma unroll
            for (int i = 0; i < PIXELS; i++)
                sum = __usad(macroblock[row][left + i], line[i], sum);
        }
        sads[block * offsets] = sum;
    }
}

// Blocks of twice the side: sums of four in sequence. Grid: (.., large blocks); one thread per offset.
extern "C" __global__ void join_blocks(const unsigned short *__restrict__ small, unsigned short *__restrict__ large,
                                       int offsets)
{
    const int offset = blockIdx.x * blockDim.x + threadIdx.x;
    if (offset >= offsets)
        return;
    unsigned int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += small[(4 * blockIdx.y + i) * offsets + offset];
    large[blockIdx.y * offsets + offset] = sum;
}
