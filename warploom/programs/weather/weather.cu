// Weather over a channel around the globe: winds and the height of the air by finite differences, moisture carried with
// the winds on several levels, and clouds that rain, column by column. West and east join; north and south are walls.
struct Model {
    int columns, rows, levels;
    float half_step;  // the time step over twice the distance of two columns
    float gravity, rotation, smoothing;
};

struct Around {
    int here, west, east, south, north;
};

__device__ Around around(const Model &model, int x, int y)
{
    const int row = y * model.columns;
    return {row + x,
            row + (x > 0 ? x : model.columns) - 1,
            row + (x < model.columns - 1 ? x + 1 : 0),
            max(y - 1, 0) * model.columns + x,
            min(y + 1, model.rows - 1) * model.columns + x};
}

// A field's new value in a cell: carried by the wind, and smoothed.
__device__ float carried(const Model &model, const float *field, const Around &at, float u, float v)
{
    const float from_west = field[at.west] - field[at.east], from_south = field[at.south] - field[at.north];
    const float beside = field[at.west] + field[at.east] + field[at.south] + field[at.north];
    const float smoother = fmaf(-4.0f, field[at.here], beside);
    const float moved = fmaf(model.half_step, fmaf(u, from_west, v * from_south), field[at.here]);
    return fmaf(model.smoothing, smoother, moved);
}

// Winds: carried by themselves, driven by slopes of the height, turned by the rotation of the earth.
extern "C" __global__ void move_winds(Model model, const float *__restrict__ height, const float *__restrict__ u,
                                      const float *__restrict__ v, float *__restrict__ new_u, float *__restrict__ new_v)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= model.columns || y >= model.rows)
        return;
    const Around at = around(model, x, y);
    const float drive = model.half_step * model.gravity;
    const float here_u = u[at.here], here_v = v[at.here];
    const float next_u = fmaf(drive, height[at.west] - height[at.east], carried(model, u, at, here_u, here_v));
    const float next_v = fmaf(drive, height[at.south] - height[at.north], carried(model, v, at, here_u, here_v));
    new_u[at.here] = fmaf(model.rotation, here_v, next_u);
    new_v[at.here] = y == 0 || y == model.rows - 1 ? 0.0f : fmaf(-model.rotation, here_u, next_v);
}

// Height: what flows in from the sides.
extern "C" __global__ void move_air(Model model, const float *__restrict__ height, const float *__restrict__ u,
                                    const float *__restrict__ v, float *__restrict__ new_height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= model.columns || y >= model.rows)
        return;
    const Around at = around(model, x, y);
    const float from_west = fmaf(height[at.west], u[at.west], -height[at.east] * u[at.east]);
    const float from_south = fmaf(height[at.south], v[at.south], -height[at.north] * v[at.north]);
    new_height[at.here] = fmaf(model.half_step, from_west + from_south, carried(model, height, at, 0.0f, 0.0f));
}

// Moisture on each level (blockIdx.z); winds are stronger above.
extern "C" __global__ void move_moisture(Model model, const float *__restrict__ moisture, const float *__restrict__ u,
                                         const float *__restrict__ v, float *__restrict__ new_moisture)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= model.columns || y >= model.rows)
        return;
    const Around at = around(model, x, y);
    const int level = blockIdx.z * model.rows * model.columns;
    const float strength = fmaf(0.2f, blockIdx.z, 0.8f);
    new_moisture[level + at.here] =
        carried(model, moisture + level, at, strength * u[at.here], strength * v[at.here]);
}

// Rain of a column, from its top: air that is too moist loses half of the excess; rain falls through dry air and
// evaporates in part.
extern "C" __global__ void let_rain(Model model, const float *__restrict__ height, float *moisture,
                                    float *__restrict__ rain)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= model.columns || y >= model.rows)
        return;
    const int here = y * model.columns + x;
    const float ground = fmaf(0.05f, height[here], -30.0f);  // temperature, in degrees
    float falling = 0.0f;
#pragma unroll 1
    for (int level = model.levels - 1; level >= 0; level--) {
        float *air = &moisture[level * model.rows * model.columns + here];
        const float temperature = fmaf(-6.5f, level, ground);
        const float most = fmaf(temperature, fmaf(temperature, 0.01f, 0.3f), 4.0f);  // grams in a kilogram
        const float excess = *air - most;
        if (excess > 0.0f) {
            *air = fmaf(-0.5f, excess, *air);
            falling = fmaf(0.5f, excess, falling);
        } else if (falling > 0.0f) {
            const float evaporated = fminf(falling, __fmul_rn(-0.2f, excess));
            *air += evaporated;
            falling -= evaporated;
        }
    }
    rain[here] += falling;
}
