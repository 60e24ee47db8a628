// Tracks points on the wall of a beating heart from one frame to the next: the block of a point compares its template
// with all places of a search window, moves the point to the most similar one, and blends the template with it.
//
// The template is a square of `side` pixels around the point, the window reaches `reach` further. Block: a power of two.
// Dynamic shared memory: side * side floats, the window's floats, and blockDim.x floats and ints.
extern "C" __global__ void track(const float *__restrict__ frame, float *templates, int2 *points, int rows,
                                 int columns, int side, int reach, float inertia)
{
    extern __shared__ float pattern[];
    const int width = side + 2 * reach;
    const int places = 2 * reach + 1;
    float *window = pattern + side * side;
    float *scores = window + width * width;
    int *best = (int *)(scores + blockDim.x);
    float *own = templates + blockIdx.x * side * side;
    const int2 point = points[blockIdx.x];
    const int left = point.x - width / 2;
    const int top = point.y - width / 2;

    for (int i = threadIdx.x; i < side * side; i += blockDim.x)
        pattern[i] = own[i];
    for (int i = threadIdx.x; i < width * width; i += blockDim.x) {
        const int x = min(max(left + i % width, 0), columns - 1);
        const int y = min(max(top + i / width, 0), rows - 1);
        window[i] = frame[y * columns + x];
    }
    __syncthreads();

    // The normalised correlation, squared, but for the energy of the template, which is the same everywhere.
    float score = 0.0f;
    int place = 0;
    for (int i = threadIdx.x; i < places * places; i += blockDim.x) {
        const float *corner = window + i / places * width + i % places;
        float product = 0.0f, energy = 0.0f;
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                const float pixel = corner[y * width + x];
                product += pattern[y * side + x] * pixel;
                energy += pixel * pixel;
            }
        const float correlation = product * product / energy;
        if (correlation > score) {
            score = correlation;
            place = i;
        }
    }
    scores[threadIdx.x] = score;
    best[threadIdx.x] = place;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        const int other = threadIdx.x + half;
        if (threadIdx.x < half &&
            (scores[other] > scores[threadIdx.x] ||
             (scores[other] == scores[threadIdx.x] && best[other] < best[threadIdx.x]))) {
            scores[threadIdx.x] = scores[other];
            best[threadIdx.x] = best[other];
        }
        __syncthreads();
    }

    const int x = best[0] % places;
    const int y = best[0] / places;
    if (threadIdx.x == 0)
        points[blockIdx.x] = {point.x + x - reach, point.y + y - reach};
    for (int i = threadIdx.x; i < side * side; i += blockDim.x) {
        const float pixel = window[(y + i / side) * width + x + i % side];
        own[i] = fmaf(inertia, pattern[i] - pixel, pixel);
    }
}
