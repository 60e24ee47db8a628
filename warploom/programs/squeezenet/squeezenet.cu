// Fire modules of a network for images: few 1 x 1 filters "squeeze" the channels, many 1 x 1 and 3 x 3 filters
// "expand" them again; their results lie one after the other. Beyond the border of an image are zeros.
struct Layer {
    const float *weights;  // [filter][channel][window][window]
    const float *biases;
    int channels, side, window;  // channels and side of the image, side of the windows: 1 or 3
};

// One thread per pixel of the result. Grid: (.., filters).
extern "C" __global__ void convolve(Layer layer, const float *__restrict__ image, float *__restrict__ result)
{
    const int side = layer.side, reach = layer.window / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, filter = blockIdx.y;
    if (i >= side * side)
        return;
    const int x = i % side, y = i / side;
    const float *weight = layer.weights + filter * layer.channels * layer.window * layer.window;
    float sum = layer.biases[filter];
#pragma unroll 1
    for (int channel = 0; channel < layer.channels; channel++) {
        for (int row = y - reach; row <= y + reach; row++) {
            for (int column = x - reach; column <= x + reach; column++, weight++) {
                if (row >= 0 && row < side && column >= 0 && column < side)
                    sum = fmaf(*weight, image[(channel * side + row) * side + column], sum);
            }
        }
    }
    result[filter * side * side + i] = fmaxf(sum, 0.0f);
}

// The mean of each channel. One thread per channel.
extern "C" __global__ void average(const float *__restrict__ image, float *__restrict__ means, int channels, int pixels)
{
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels)
        return;
    float sum = 0.0f;
    for (int i = 0; i < pixels; i++)
        sum += image[channel * pixels + i];
    means[channel] = sum / pixels;
}
