// Algorithms of CUB for a block or a warp. nvcc -arch=compute_75 -ptx cub.cu
#include <cub/cub.cuh>
#include <cub/block/block_shuffle.cuh>

constexpr int WARPS = 2, THREADS = 32 * WARPS, ITEMS = 5;

template <typename T, int N> __device__ void load(const T *from, T (&items)[N]) {
    for (int i = 0; i < N; i++) items[i] = from[threadIdx.x * N + i];
}

template <typename T, int N> __device__ void store(T *to, const T (&items)[N]) {
    for (int i = 0; i < N; i++) to[threadIdx.x * N + i] = items[i];
}

struct Less {
    template <typename T> __device__ bool operator()(T a, T b) const { return a < b; }
};

extern "C" __global__ void arg_min(const int *in, int *index, int *value) {
    using Pair = cub::KeyValuePair<int, int>;
    using Reduce = cub::BlockReduce<Pair, THREADS, cub::BLOCK_REDUCE_RAKING>;
    __shared__ typename Reduce::TempStorage shared;
    Pair least = Reduce(shared).Reduce(Pair(threadIdx.x, in[threadIdx.x]), cub::ArgMin());
    if (threadIdx.x == 0) *index = least.key, *value = least.value;
}

extern "C" __global__ void prefix_sums(const double *in, double *out, double *sum) {
    using Scan = cub::BlockScan<double, THREADS>;
    __shared__ typename Scan::TempStorage shared;
    double items[ITEMS], total;
    load(in, items);
    Scan(shared).ExclusiveSum(items, items, total);
    store(out, items);
    if (threadIdx.x == 0) *sum = total;
}

extern "C" __global__ void sort_pairs(float *keys, int *values) {
    using Sort = cub::BlockRadixSort<float, THREADS, ITEMS, int>;
    __shared__ typename Sort::TempStorage shared;
    float key[ITEMS];
    int value[ITEMS];
    load(keys, key), load(values, value);
    Sort(shared).SortDescending(key, value);
    store(keys, key), store(values, value);
}

extern "C" __global__ void merge_sort(short *keys) {
    using Sort = cub::BlockMergeSort<short, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage shared;
    short key[ITEMS];
    load(keys, key);
    Sort(shared).Sort(key, Less());
    store(keys, key);
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *out) {
    using Histogram = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 256, cub::BLOCK_HISTO_SORT>;
    __shared__ typename Histogram::TempStorage shared;
    __shared__ unsigned counts[256];
    unsigned char items[ITEMS];
    load(in, items);
    Histogram(shared).Histogram(items, counts);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += THREADS) out[i] = counts[i];
}

extern "C" __global__ void transposed(const int *in, int *out, int count) {
    using Load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } shared;
    const int first = blockIdx.x * THREADS * ITEMS;
    int items[ITEMS];
    Load(shared.load).Load(in + first, items, count - first, 0);
    __syncthreads();
    for (int i = 0; i < ITEMS; i++) items[i] += i * threadIdx.x;
    Store(shared.store).Store(out + first, items, count - first);
}

extern "C" __global__ void heads_and_differences(const int *in, int *heads, int *differences) {
    using Heads = cub::BlockDiscontinuity<int, THREADS>;
    using Differences = cub::BlockAdjacentDifference<int, THREADS>;
    __shared__ typename Heads::TempStorage for_heads;
    __shared__ typename Differences::TempStorage for_differences;
    int items[ITEMS], head[ITEMS], difference[ITEMS];
    load(in, items);
    Heads(for_heads).FlagHeads(head, items, cuda::std::not_equal_to<>{});
    Differences(for_differences).SubtractLeft(items, difference, cuda::std::minus<>{});
    store(heads, head), store(differences, difference);
}

extern "C" __global__ void run_lengths(const int *values, const unsigned *lengths, int *out) {
    using Decode = cub::BlockRunLengthDecode<int, THREADS, 1, ITEMS>;
    __shared__ typename Decode::TempStorage shared;
    int value[1] = {values[threadIdx.x]}, items[ITEMS];
    unsigned length[1] = {lengths[threadIdx.x]}, total;
    Decode decode(shared, value, length, total);
    for (unsigned first = 0; first < total; first += THREADS * ITEMS) {
        decode.RunLengthDecode(items, first);
        for (int i = 0; i < ITEMS; i++) {
            unsigned at = first + threadIdx.x * ITEMS + i;
            if (at < total) out[at] = items[i];
        }
    }
}

extern "C" __global__ void segment_sums(const int *in, const int *heads, int *out) {
    using Reduce = cub::WarpReduce<int, 16>;
    __shared__ typename Reduce::TempStorage shared[THREADS / 16];
    const int i = threadIdx.x;
    out[i] = Reduce(shared[i / 16]).HeadSegmentedSum(in[i], heads[i]);
}

extern "C" __global__ void ranks(const unsigned *keys, int *out) {
    using Rank = cub::BlockRadixRankMatch<THREADS, 4, false>;
    __shared__ typename Rank::TempStorage shared;
    unsigned key[ITEMS];
    int rank[ITEMS];
    load(keys, key);
    Rank(shared).RankKeys(key, rank, cub::BFEDigitExtractor<unsigned>(8, 4));
    store(out, rank);
}

extern "C" __global__ void rotated(const int *in, int *out) {
    using Shuffle = cub::BlockShuffle<int, THREADS>;
    __shared__ typename Shuffle::TempStorage shared;
    Shuffle(shared).Rotate(in[threadIdx.x], out[threadIdx.x], 5);
}
