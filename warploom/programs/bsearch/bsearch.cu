// Values of keys in a table of pairs (key, value) sorted by key; -1 for a key that is not there. One thread per key.
extern "C" __global__ void look_up(const int2 *__restrict__ pairs, int count, const int *__restrict__ keys,
                                   int *__restrict__ values, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int key = keys[i];
    int low = 0, high = count - 1, value = -1;
    while (low <= high) {
        const int middle = (low + high) / 2;
        const int2 pair = pairs[middle];
        if (pair.x == key) {
            value = pair.y;
            break;
        }
        if (pair.x < key)
            low = middle + 1;
        else
            high = middle - 1;
    }
    values[i] = value;
}
