// Bitonic sort: a pass compares and exchanges all pairs at one distance; the host launches pass after pass.
//
// Stage s sorts runs of 2^(s+1) elements from pairs of runs in opposite order, by passes of falling distance.
extern "C" __global__ void pass(unsigned int *keys, int stage, int distance)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int low = 2 * i - i % distance;
    const int high = low + distance;
    const bool rising = (low >> (stage + 1)) % 2 == 0;

    const unsigned int a = keys[low], b = keys[high];
    keys[low] = rising ? min(a, b) : max(a, b);
    keys[high] = rising ? max(a, b) : min(a, b);
}
