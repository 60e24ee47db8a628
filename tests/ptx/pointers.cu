// nvcc -arch=compute_75 -ptx -fmad=false pointers.cu             -> pointers.ptx
// nvcc -arch=compute_75 -ptx -fmad=false -Xcicc -O0 pointers.cu  -> pointers_unoptimised.ptx
// g++ -x c++ makes a program that reads `in` and writes what kernels leave in `out`.
#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#define __device__
#define __constant__
#endif
typedef unsigned u32;
typedef unsigned long long u64;

BOTH inline u32 mixed(u32 a, u32 b) { return (a ^ b * 2654435761u) + (a << 5 | a >> 27); }

// ---- classes: an abstract one, two bases, virtual bases, virtual functions and destructors that call others

struct Shape {
    u32 id;
    BOTH explicit Shape(u32 id) : id(id) {}
    BOTH virtual ~Shape() { id = 99; }
    BOTH virtual u32 area(u32 scale) const = 0;
    BOTH virtual u32 twice(u32 scale) const { return 2 * area(scale) + id; }
    BOTH virtual u64 wide(u64 a, double b) { return a * id + static_cast<u64>(b); }
};

struct Named {
    u32 name;
    BOTH explicit Named(u32 name) : name(name) {}
    BOTH virtual u32 called() const { return name; }
};

struct Square : Shape {
    u32 side;
    BOTH explicit Square(u32 side) : Shape(1), side(side) {}
    BOTH u32 area(u32 scale) const override { return scale * side * side; }
};

struct Disc : Named, Shape {
    u32 radius;
    BOTH explicit Disc(u32 radius) : Named(radius + 7), Shape(2), radius(radius) {}
    BOTH u32 area(u32 scale) const override { return 3 * scale * radius * radius + called(); }
    BOTH u32 twice(u32 scale) const override { return mixed(Shape::twice(scale), scale); }
    BOTH u32 called() const override { return name ^ radius; }
    BOTH u64 wide(u64 a, double b) override { return a - static_cast<u64>(b * 0.5) + ++radius; }
};

struct Base {
    u32 base = 5;
    BOTH virtual u32 get(u32 x) { return base + x; }
};
struct Left : virtual Base {
    u32 left = 6;
    BOTH u32 get(u32 x) override { return base * left + x; }
};
struct Right : virtual Base {
    u32 right = 8;
    BOTH virtual u32 other(u32 x) { return get(x) * right; }
};
struct Diamond : Left, Right {
    BOTH u32 other(u32 x) override { return get(x + 1) - base; }
};

BOTH u32 classes(u32 i, u32 a) {
    Square square(i + 1);
    Disc disc(a & 15);
    Shape *shape = a % 3 ? static_cast<Shape *>(&square) : &disc;
    u32 sum = shape->area(i) + 5 * shape->twice(a);
    sum += static_cast<u32>(shape->wide(a, i * 0.75) * 3);
    Named *named = &disc;
    if (i & 1) sum = mixed(sum, named->called());
    Base base;
    Left left;
    Diamond diamond;
    Base *bases[] = {&base, &left, &diamond};
    sum = mixed(sum, bases[a % 3]->get(i));
    Right *right = &diamond;
    sum += right->other(a);
    u32 (Shape::*member)(u32) const = i % 2 ? &Shape::area : &Shape::twice;
    return sum + (shape->*member)(3);
}

// ---- tables of functions in each memory, comparisons of pointers, structs by value

struct Triple {
    u32 first;
    u64 second;
    unsigned char third;
};
typedef u32 (*Binary)(u32, u32);
typedef Triple (*Maker)(Triple, u32);

BOTH u32 plus(u32 a, u32 b) { return a + b; }
BOTH u32 minus(u32 a, u32 b) { return a - b; }
BOTH u32 times(u32 a, u32 b) { return a * b; }
BOTH u32 steps(u32 a, u32 b) {
    u32 count = 0;
    while (a != 1 && count < 20) a = a & 1 ? 3 * a + b : a / 2, count++;
    return count;
}
BOTH Triple swapped(Triple t, u32 x) {
    return {static_cast<u32>(t.second), t.first + x, static_cast<unsigned char>(t.third + 1)};
}
BOTH Triple shifted(Triple t, u32 x) {
    t.second <<= x & 31;
    t.third ^= x;
    return t;
}

__device__ Binary table[5] = {plus, minus, times, steps, nullptr};
__constant__ Binary fixed[3] = {times, plus, minus};
__constant__ struct {
    u32 before;
    Maker make[2];
    Binary last;
} packed = {17, {swapped, shifted}, steps};

BOTH u32 tables(u32 i, u32 a) {
    Binary f = table[a % 5], g = fixed[i % 3];
    u32 sum = mixed(f ? f(a, i) : 1234, g(i, a)) + (f == g) * 1000 + (f != nullptr) * 100;
    Triple t = packed.make[i & 1]({a, 0x123456789abcull * i, static_cast<unsigned char>(i)}, a);
    sum = mixed(sum, t.first + static_cast<u32>(t.second) + static_cast<u32>(t.second >> 32) + t.third);
    if (a & 4) sum += packed.last(a, packed.before);
    Binary local[2] = {minus, i & 2 ? times : plus};
    for (u32 k = 0; k < 4; k++) sum = local[(a >> k) & 1](sum, k + i);
    return sum;
}

// ---- an object that hides the type of a function, as std::function does: with a pointer to an instance of a template

struct Function {
    u64 state[2];
    u32 (*invoke)(const void *, u32);
    template <class F> BOTH Function(F f) : state{} {
        static_assert(sizeof(F) <= sizeof state, "too large");
        *reinterpret_cast<F *>(state) = f;
        invoke = [](const void *self, u32 x) { return (*static_cast<const F *>(self))(x); };
    }
    BOTH u32 operator()(u32 x) const { return invoke(state, x); }
};

struct Add {
    u32 n;
    BOTH u32 operator()(u32 x) const { return x + n; }
};
struct Scale {
    u64 factor;
    u32 offset;
    BOTH u32 operator()(u32 x) const { return static_cast<u32>(x * factor >> 7) + offset; }
};
struct Flip {
    BOTH u32 operator()(u32 x) const { return x ^ 0x55; }
};

BOTH u32 objects(u32 i, u32 a) {
    Function first = i % 3 == 0 ? Function(Add{a}) : i % 3 == 1 ? Function(Scale{a * 77ull, i}) : Function(Flip{});
    Function second = a & 1 ? Function(Add{i}) : first;
    return first(second(a) + second(i));
}

// ---- objects and pointers that one kernel makes and another uses, and a pointer that the host passes

struct Visitor {
    BOTH virtual u32 visit(u32 a, u32 b) const = 0;
};
struct First : Visitor {
    u32 seed;
    BOTH explicit First(u32 seed) : seed(seed) {}
    BOTH u32 visit(u32 a, u32 b) const override { return mixed(a, b + seed); }
};
struct Second : Visitor {
    u64 seed;
    BOTH explicit Second(u32 seed) : seed(seed * 3ull) {}
    BOTH u32 visit(u32 a, u32 b) const override { return a - b * static_cast<u32>(seed); }
};

BOTH u32 visited(u32 i, const Visitor *object, Binary function, Binary given) {
    u32 seen = object->visit(i, 3);
    return given(seen, function(i, 5));
}

#ifdef __CUDACC__
extern "C" __global__ void all(u32 *out, const u32 *in) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    out[i] = classes(i, in[i]);
    out[n + i] = tables(i, in[i]);
    out[2 * n + i] = objects(i, in[i]);
}
extern "C" __global__ void make(Visitor **objects, char *memory, Binary *functions) {
    u32 i = threadIdx.x;
    objects[i] = i % 2 ? static_cast<Visitor *>(new (memory + 32 * i) First(i)) : new (memory + 32 * i) Second(i);
    functions[i] = i % 3 ? plus : steps;
}
extern "C" __global__ void visit(u32 *out, Visitor **objects, Binary *functions, Binary given) {
    u32 i = threadIdx.x;
    out[i] = visited(i, objects[i], functions[i], given);
}
#else
#include <cstdio>
int main() {
    u32 in[64], out[4 * 64];
    if (fread(in, sizeof in, 1, stdin) != 1) return 1;
    for (u32 i = 0; i < 64; i++) {
        out[i] = classes(i, in[i]);
        out[64 + i] = tables(i, in[i]);
        out[128 + i] = objects(i, in[i]);
    }
    for (u32 i = 0; i < 64; i++) {
        First first(i);
        Second second(i);
        out[192 + i] = visited(i, i % 2 ? static_cast<Visitor *>(&first) : &second, i % 3 ? plus : steps, fixed[0]);
    }
    return fwrite(out, sizeof out, 1, stdout) != 1;
}
#endif
