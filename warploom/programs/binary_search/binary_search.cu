// One step of a search in a sorted array: every thread looks at a segment of the range that is left, and the one whose
// segment holds the key reports where it begins. The host goes on with this segment.
extern "C" __global__ void narrow(const int *__restrict__ sorted, int *begin, int first, int segment, int key)
{
    const int low = first + (blockIdx.x * blockDim.x + threadIdx.x) * segment;
    const int high = low + segment - 1;
    if (sorted[low] <= key && key <= sorted[high])
        *begin = low;
}
