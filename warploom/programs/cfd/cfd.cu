// Flow of a gas on an unstructured grid: finite volumes, whose cells have four neighbours each.
//
// A field is five arrays of `cells` floats: density, momentum (x, y, z), energy. `neighbours` has an array of `cells` for
// each face, `normals` has three. Neighbour -1 is a wall, -2 the far field, whose values are in constant memory.
#define FACES 4
#define WALL -1
#define GAMMA 1.4f
#define SMOOTHING 0.2f

__constant__ float far[5];

struct State {
    float density;
    float3 momentum;
    float energy;
};

__device__ float dot(float3 a, float3 b)
{
    return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x));
}

__device__ State load(const float *field, int cells, int cell)
{
    return {field[cell],
            {field[cells + cell], field[2 * cells + cell], field[3 * cells + cell]},
            field[4 * cells + cell]};
}

__device__ State far_field()
{
    return {far[0], {far[1], far[2], far[3]}, far[4]};
}

__device__ float3 velocity(const State &s)
{
    return {s.momentum.x / s.density, s.momentum.y / s.density, s.momentum.z / s.density};
}

__device__ float pressure(const State &s, float3 v)
{
    return __fmul_rn(GAMMA - 1.0f, fmaf(-0.5f, dot(s.momentum, v), s.energy));
}

__device__ float speed_of_sound(const State &s, float pressure)
{
    return sqrtf(GAMMA * pressure / s.density);
}

// The time step of each cell, divided by its volume: waves shall not cross the cell in it.
extern "C" __global__ void time_steps(const float *__restrict__ field, const float *__restrict__ areas,
                                      float *__restrict__ steps, int cells)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    const State s = load(field, cells, cell);
    const float3 v = velocity(s);
    const float speed = sqrtf(dot(v, v)) + speed_of_sound(s, pressure(s, v));
    steps[cell] = 0.5f / (sqrtf(areas[cell]) * speed);
}

// a * v + b * w
__device__ float3 mix(float a, float3 v, float b, float3 w)
{
    return {fmaf(b, w.x, a * v.x), fmaf(b, w.y, a * v.y), fmaf(b, w.z, a * v.z)};
}

// The flow of one quantity through a face: by its sum on both sides, smoothed by its difference.
__device__ float flow(float3 normal, float3 sum, float smooth, float difference)
{
    return fmaf(smooth, difference, -0.5f * dot(normal, sum));
}

// What flows into each cell through its four faces.
extern "C" __global__ void fluxes(const float *__restrict__ field, const int *__restrict__ neighbours,
                                  const float *__restrict__ normals, float *__restrict__ fluxes, int cells)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    const State s = load(field, cells, cell);
    const float3 v = velocity(s);
    const float p = pressure(s, v);
    const float speed = sqrtf(dot(v, v)) + speed_of_sound(s, p);
    const float enthalpy = s.energy + p;

    State flux = {0.0f, {0.0f, 0.0f, 0.0f}, 0.0f};
#pragma unroll 1
    for (int face = 0; face < FACES; face++) {
        const int neighbour = neighbours[face * cells + cell];
        const float *n = normals + face * 3 * cells + cell;
        const float3 normal = {n[0], n[cells], n[2 * cells]};
        if (neighbour == WALL) {
            flux.momentum.x = fmaf(-p, normal.x, flux.momentum.x);
            flux.momentum.y = fmaf(-p, normal.y, flux.momentum.y);
            flux.momentum.z = fmaf(-p, normal.z, flux.momentum.z);
            continue;
        }
        const State t = neighbour >= 0 ? load(field, cells, neighbour) : far_field();
        const float3 w = velocity(t);
        const float q = pressure(t, w);
        const float smooth = SMOOTHING * sqrtf(dot(normal, normal)) *
                             (speed + (sqrtf(dot(w, w)) + speed_of_sound(t, q)));
        float3 x = mix(s.momentum.x, v, t.momentum.x, w);
        float3 y = mix(s.momentum.y, v, t.momentum.y, w);
        float3 z = mix(s.momentum.z, v, t.momentum.z, w);
        x.x += p + q;
        y.y += p + q;
        z.z += p + q;
        const float3 mass = {s.momentum.x + t.momentum.x, s.momentum.y + t.momentum.y, s.momentum.z + t.momentum.z};
        flux.density += flow(normal, mass, smooth, t.density - s.density);
        flux.momentum.x += flow(normal, x, smooth, t.momentum.x - s.momentum.x);
        flux.momentum.y += flow(normal, y, smooth, t.momentum.y - s.momentum.y);
        flux.momentum.z += flow(normal, z, smooth, t.momentum.z - s.momentum.z);
        flux.energy += flow(normal, mix(enthalpy, v, t.energy + q, w), smooth, t.energy - s.energy);
    }
    float *out = fluxes + cell;
    out[0] = flux.density;
    out[cells] = flux.momentum.x;
    out[2 * cells] = flux.momentum.y;
    out[3 * cells] = flux.momentum.z;
    out[4 * cells] = flux.energy;
}

// A stage of the step: from the field at its beginning along the fluxes.
extern "C" __global__ void advance(const float *__restrict__ before, const float *__restrict__ steps,
                                   const float *__restrict__ fluxes, float *__restrict__ field, int cells, float part)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    const float factor = part * steps[cell];
    for (int i = 0; i < 5; i++)
        field[i * cells + cell] = fmaf(factor, fluxes[i * cells + cell], before[i * cells + cell]);
}
