// A picture of mirroring balls on a chequered floor, under a sky: one thread per pixel, its ray followed from mirror to
// mirror. Lengths of vectors are 1 where they are directions. Sums of products are fused as written.
#define BALLS 6
#define FLOOR BALLS
#define NOTHING -1
#define MOST_MIRRORS 4

struct Vector {
    float x, y, z;
};

struct Ball {
    Vector centre;
    float radius;
    Vector colour;
    float mirror;  // the part of the light that it reflects
};

__constant__ Ball balls[BALLS];

__device__ float dot(Vector a, Vector b) { return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x)); }

__device__ Vector minus(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }

// a * factor + b
__device__ Vector combined(Vector a, float factor, Vector b)
{
    return {fmaf(a.x, factor, b.x), fmaf(a.y, factor, b.y), fmaf(a.z, factor, b.z)};
}

__device__ Vector direction_of(Vector a)
{
    const float scale = 1.0f / sqrtf(dot(a, a));
    return {a.x * scale, a.y * scale, a.z * scale};
}

// The first thing that a ray meets, and how far away it is.
__device__ int meet(Vector from, Vector direction, float &distance)
{
    int met = NOTHING;
    distance = 1000.0f;
    for (int i = 0; i < BALLS; i++) {
        const Vector way = minus(balls[i].centre, from);
        const float along = dot(way, direction);
        const float inside = fmaf(balls[i].radius, balls[i].radius, fmaf(along, along, -dot(way, way)));
        if (inside <= 0.0f)
            continue;
        const float here = along - sqrtf(inside);
        if (here > 0.001f && here < distance) {
            distance = here;
            met = i;
        }
    }
    const float floor = -from.y / direction.y;
    if (direction.y < 0.0f && floor > 0.001f && floor < distance) {
        distance = floor;
        met = FLOOR;
    }
    return met;
}

extern "C" __global__ void ray_tracing(uchar4 *__restrict__ picture, int rows, int columns, Vector eye, Vector light)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    Vector from = eye;
    Vector direction = direction_of({(2 * column - columns) * (1.0f / rows), (rows - 2 * row) * (1.0f / rows), 2.0f});
    Vector colour = {};
    float strength = 1.0f;
#pragma unroll 1
    for (int i = 0; i < MOST_MIRRORS; i++) {
        float distance;
        const int met = meet(from, direction, distance);
        if (met == NOTHING) {
            const float height = fmaxf(direction.y, 0.0f);
            colour = combined({fmaf(-0.5f, height, 0.8f), fmaf(-0.3f, height, 0.9f), 1.0f}, strength, colour);
            break;
        }
        from = combined(direction, distance, from);
        Vector normal = {0.0f, 1.0f, 0.0f}, surface = {0.9f, 0.9f, 0.9f};
        float mirror = 0.2f;
        if (met != FLOOR) {
            normal = direction_of(minus(from, balls[met].centre));
            surface = balls[met].colour;
            mirror = balls[met].mirror;
        } else if ((int)floorf(from.x) + (int)floorf(from.z) & 1) {
            surface = {0.2f, 0.3f, 0.2f};
        }
        float lit = fmaxf(dot(normal, light), 0.0f);
        if (lit > 0.0f && meet(from, light, distance) != NOTHING)
            lit = 0.0f;
        colour = combined(surface, strength * (1.0f - mirror) * fmaf(0.8f, lit, 0.2f), colour);
        strength *= mirror;
        if (strength < 0.01f)
            break;
        direction = combined(normal, -2.0f * dot(direction, normal), direction);
    }
    picture[row * columns + column] = make_uchar4(
        fminf(colour.x, 1.0f) * 255.0f, fminf(colour.y, 1.0f) * 255.0f, fminf(colour.z, 1.0f) * 255.0f, 255);
}
