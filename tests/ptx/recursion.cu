// nvcc -arch=compute_75 -ptx -fmad=false recursion.cu             -> recursion.ptx
// nvcc -arch=compute_75 -ptx -fmad=false -Xcicc -O0 recursion.cu  -> recursion_unoptimised.ptx
// g++ -x c++ makes a program that reads `in` and writes what kernels leave in `out`: all kernels but the last two.
#ifdef __CUDACC__
#define BOTH __host__ __device__
#define FUNCTION __host__ __device__ __noinline__
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define NAMED(name) extern "C" __global__ void name(u64* out, const u32* in)
#else
#include <cstdio>
#define BOTH
#define FUNCTION
#define NAMED(name) static void name(u64* out, const u32* in)
static unsigned INDEX;
#endif
typedef unsigned u32;
typedef unsigned long long u64;

FUNCTION u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

NAMED(fibonacci) { out[INDEX] = fib(in[INDEX] % 9); }

FUNCTION u32 ack(u32 m, u32 n) {
    if (!m) return n + 1;
    return n ? ack(m - 1, ack(m, n - 1)) : ack(m - 1, 1);
}

NAMED(ackermann) { out[INDEX] = ack(in[INDEX] % 3, in[INDEX] / 3 % 4); }

// Two functions that call each other, with values of 64 bits and a predicate that are needed later.
FUNCTION u64 odd(u64 n, double weight);

FUNCTION u64 even(u64 n, double weight) {
    if (!n) return static_cast<u64>(weight);
    const bool third = n % 3 == 0;
    const u64 found = odd(n - 1, weight * 1.5 + n);
    return third ? found * n : found ^ n << 33;
}

FUNCTION u64 odd(u64 n, double weight) {
    if (!n) return ~static_cast<u64>(weight);
    const u64 other = n > 4 ? odd(n - 3, weight + 2) : 7;
    return even(n - 1, weight - n) + other * n;
}

NAMED(mutual) {
    const u32 n = in[INDEX] % 10;
    out[INDEX] = in[INDEX] & 64 ? even(n, 3.25) : odd(n, 100.5);
}

// Local arrays: each call has its own, and gives its pointer to the next one.
FUNCTION void sort(u32* numbers, int count) {
    if (count < 2) return;
    u32 lower[10], upper[10];
    int low = 0, high = 0;
    const u32 pivot = numbers[0];
    for (int i = 1; i < count; i++)
        if (numbers[i] < pivot) lower[low++] = numbers[i];
        else upper[high++] = numbers[i];
    sort(lower, low);
    sort(upper, high);
    for (int i = 0; i < low; i++) numbers[i] = lower[i];
    numbers[low] = pivot;
    for (int i = 0; i < high; i++) numbers[low + 1 + i] = upper[i];
}

NAMED(quicksort) {
    u32 numbers[10];
    for (int i = 0; i < 10; i++) numbers[i] = (in[INDEX] + i * 40503u) * 2654435761u >> 16;
    sort(numbers, 10);
    u64 all = 0;
    for (int i = 0; i < 10; i++) all = all * 1000003 + numbers[i];
    out[INDEX] = all;
}

// Structs by value, among them one that is too irregular for registers.
struct Range { u32 low, high; unsigned char ways[12]; };
struct Sum { u64 total; u32 leaves; unsigned char way[8]; };

FUNCTION Sum walk(const u32* in, Range range, int depth) {
    Sum sum = {0, 1, {}};
    if (range.high - range.low == 1) {
        sum.total = in[range.low];
        for (int i = 0; i < 8; i++) sum.way[i] = range.ways[i];
        return sum;
    }
    Range left = range, right = range;
    left.high = right.low = range.low + (range.high - range.low + 1) / 2;
    left.ways[depth % 12] = 1 + in[range.low] % 7;
    right.ways[depth * 5 % 12] = 9;
    const Sum first = walk(in, left, depth + 1), second = walk(in, right, depth + 1);
    sum.total = first.total * 3 + second.total + range.ways[in[range.low] % 12];
    sum.leaves = first.leaves + second.leaves;
    for (int i = 0; i < 8; i++) sum.way[i] = first.way[i] + second.way[7 - i];
    return sum;
}

NAMED(tree) {
    const u32 leaves = 1 + in[INDEX] % 6;
    const u32 low = in[INDEX] / 6 % 32;
    const Sum sum = walk(in, {low, low + leaves, {}}, 0);
    u64 all = sum.total * 31 + sum.leaves;
    for (int i = 0; i < 8; i++) all = all * 257 + sum.way[i];
    out[INDEX] = all;
}

// A recursive function that calls another one, through a function that is inlined, in a loop.
FUNCTION u32 digits(u32 n) { return n ? n % 10 + digits(n / 10) : 0; }

FUNCTION u32 between(u32 n, u32 times) {
    u32 sum = 0, kept[4] = {n, n + 1, n + 2, n + 3};
    for (u32 i = 0; i < times; i++) sum += digits(kept[i % 4] * (i + 1)) << i;
    return sum;
}

FUNCTION u32 nested(u32 n, u32 depth) {
    u32 sum = n * depth;
    for (u32 i = 0; i < depth; i++) sum = sum * 5 + nested(n + i, depth - 1) + between(n ^ i, 1 + i);
    return sum;
}

NAMED(loops) {
    u32 sum = 0;
    for (u32 i = 0; i <= in[INDEX] % 2; i++) sum = sum * 31 + nested(in[INDEX] % 1000, i + 1);
    out[INDEX] = sum;
}

// Calls through pointers: an expression whose nodes evaluate their children.
struct Node {
    const Node *left, *right;
    u32 number;
    BOTH Node(const Node* left, const Node* right, u32 number) : left(left), right(right), number(number) {}
    BOTH virtual u32 value(u32 x) const = 0;
};

struct Leaf : Node {
    BOTH Leaf(u32 number) : Node(nullptr, nullptr, number) {}
    BOTH u32 value(u32 x) const override { return x + number; }
};

struct Product : Node {
    using Node::Node;
    BOTH u32 value(u32 x) const override { return left->value(x + number) * right->value(x); }
};

struct Either : Node {
    using Node::Node;
    BOTH u32 value(u32 x) const override {
        return (x * number >> 3) & 1 ? left->value(x) + number : right->value(x + 1);
    }
};

NAMED(expression) {
    const Leaf one(1), big(in[INDEX]);
    const Either choice(&one, &big, 5);
    const Product product(&choice, &one, 3);
    const Either root(&product, &choice, 7);
    const Product twice(&root, &product, in[INDEX] % 3);
    out[INDEX] = twice.value(in[INDEX] >> 3);
}

#ifdef __CUDACC__

// Lanes and warps that meet: in a recursion in which all threads take the same way, and behind one.
FUNCTION u32 reduce(volatile u32* shared, u32 count) {
    if (count == 1) return shared[0];
    const u32 half = count / 2, old = shared[threadIdx.x % count];
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half] * 3;
    __syncthreads();
    return reduce(shared, half) ^ __shfl_xor_sync(~0u, old, 5);
}

NAMED(barriers) {
    __shared__ u32 shared[64];
    shared[threadIdx.x] = fib(in[INDEX] % 9);
    __syncthreads();
    out[INDEX] = reduce(shared, blockDim.x) + shared[63 - threadIdx.x];
}

// As many calls as there is a stack for.
FUNCTION u32 down(u32 n) { return n ? down(n - 1) * 3 + n : 1; }

NAMED(deep) { out[INDEX] = down(in[INDEX]); }

#else

int main() {
    static u32 in[64];
    static u64 out[64];
    void (*const kernels[])(u64*, const u32*) = {fibonacci, ackermann, mutual, quicksort, tree, loops, expression};
    if (std::fread(in, 4, 64, stdin) != 64) return 1;
    for (const auto kernel : kernels) {
        for (INDEX = 0; INDEX < 64; INDEX++) kernel(out, in);
        std::fwrite(out, 8, 64, stdout);
    }
}

#endif
