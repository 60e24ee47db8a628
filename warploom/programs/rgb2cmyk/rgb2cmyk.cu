// Colours from red, green, blue to cyan, magenta, yellow and black (bytes). One thread per pixel.
extern "C" __global__ void rgb2cmyk(const unsigned char *__restrict__ rgb, uchar4 *__restrict__ cmyk, int pixels)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    const int cyan = 255 - rgb[3 * i];
    const int magenta = 255 - rgb[3 * i + 1];
    const int yellow = 255 - rgb[3 * i + 2];
    const int black = min(cyan, min(magenta, yellow));
    cmyk[i] = make_uchar4(cyan - black, magenta - black, yellow - black, black);
}
