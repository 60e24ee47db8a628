// K-means clustering: the nearest of some centres for each point. The host moves the centres.
#define MOST 1024

__constant__ float centres[MOST];

// Turns an array of points into arrays of features, so that neighbouring threads read neighbouring numbers.
extern "C" __global__ void features_first(const float *__restrict__ points, float *__restrict__ features, int count,
                                          int dimensions)
{
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= count)
        return;
    for (int i = 0; i < dimensions; i++)
        features[i * count + point] = points[point * dimensions + i];
}

// The number of the centre at the least distance; the first one of several.
extern "C" __global__ void assign(const float *__restrict__ features, int *__restrict__ members, int count,
                                  int dimensions, int clusters)
{
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= count)
        return;
    float least = 3.4e38f;
    int nearest = 0;
    for (int cluster = 0; cluster < clusters; cluster++) {
        float distance = 0.0f;
        for (int i = 0; i < dimensions; i++) {
            const float difference = features[i * count + point] - centres[cluster * dimensions + i];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    members[point] = nearest;
}
