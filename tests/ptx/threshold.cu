// The kernel of [AFFINE], Fig. 1(a). nvcc -arch=compute_75 -ptx threshold.cu
// It would join the two stores if they were not volatile.

constexpr int THRESHOLD = 100, Y_MAX_VALUE = 255;

extern "C" __global__ void threshold(volatile int y[], int a) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int product = a * y[idx];
    y[idx] = product;
    if (product > THRESHOLD)
        y[idx] = Y_MAX_VALUE;
}
