// Value of a portfolio of swaptions by Monte Carlo in the LIBOR market model. A thread follows one path of the forward
// rates, with normally distributed shocks that are given, and values the portfolio at its end.
#define MOST_RATES 80

struct Market {
    int rates, steps;  // forward rates; the portfolio is valued after so many steps
    float interval;    // between the dates of two rates, in years
};

struct Swaption {
    int length;  // of the swap, in intervals
    float rate;
};

__constant__ float volatilities[MOST_RATES];  // of a rate, by its number of intervals from now
__constant__ Swaption swaptions[16];

// Moves the rates by one step for each shock.
__device__ void follow(float *rates, const Market &market, const float *shocks, int paths)
{
    const float root = sqrtf(market.interval);
#pragma unroll 1
    for (int step = 0; step < market.steps; step++) {
        const float shock = root * shocks[step * paths];
        float drift = 0.0f;
#pragma unroll 1
        for (int i = step + 1; i < market.rates; i++) {
            const float volatility = volatilities[i - step - 1];
            const float scaled = market.interval * volatility;
            drift += scaled * rates[i] / fmaf(market.interval, rates[i], 1.0f);
            rates[i] *= expf(volatility * (drift + fmaf(-0.5f, scaled, shock)));
        }
    }
}

// What the portfolio loses at the rates reached, discounted to now.
__device__ float loss(const float *rates, const Market &market, int count)
{
    float discount = 1.0f, annuity = 0.0f, total = 0.0f;
    int swaption = 0;
#pragma unroll 1
    for (int i = market.steps; i < market.rates; i++) {
        discount /= fmaf(market.interval, rates[i], 1.0f);
        annuity = fmaf(market.interval, discount, annuity);
        for (; swaption < count && swaptions[swaption].length == i + 1 - market.steps; swaption++)
            total += fmaxf(1.0f - fmaf(swaptions[swaption].rate, annuity, discount), 0.0f);
    }
#pragma unroll 1
    for (int i = 0; i < market.steps; i++)
        total /= fmaf(market.interval, rates[i], 1.0f);
    return 100.0f * total;
}

extern "C" __global__ void libor(Market market, const float *__restrict__ shocks, float *__restrict__ losses, int paths,
                                 float first_rate, int count)
{
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    float rates[MOST_RATES];
    for (int i = 0; i < market.rates; i++)
        rates[i] = first_rate;
    follow(rates, market, shocks + path, paths);
    losses[path] = loss(rates, market, count);
}
