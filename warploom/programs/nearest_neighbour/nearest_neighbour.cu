// Distances of places from a target, on a map. One thread per place.
struct Place {
    float latitude, longitude;
};

extern "C" __global__ void distances_from(Place target, const Place *__restrict__ places, float *__restrict__ distances,
                                          int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float north = places[i].latitude - target.latitude;
    const float east = places[i].longitude - target.longitude;
    distances[i] = sqrtf(fmaf(east, east, north * north));
}
