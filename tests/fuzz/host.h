// CUDA on the host, one fibre for each thread of a block. Barriers, votes and shuffles are meeting points: a fibre
// that arrives leaves its operand and waits until all that take part are there.
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

#define HELPER static inline
#include "common.h"

#define __global__
#define __device__
#define __constant__ static const
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__
#define __align__(n) __attribute__((aligned(n)))
#define ROLLED
#define DYNAMIC_SHARED(name) u32 *name = dynamic_shared

// ------------------------------------------------------------ vectors

#define VECTOR(T, name)                                                                                               \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                                                \
    struct alignas(4 * sizeof(T)) name##4 { T x, y, z, w; };                                                          \
    static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                                 \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
VECTOR(u8, uchar)
VECTOR(s8, char)
VECTOR(u16, ushort)
VECTOR(s16, short)
VECTOR(u32, uint)
VECTOR(s32, int)
VECTOR(f32, float)
struct alignas(16) ulonglong2 { u64 x, y; };
struct alignas(16) double2 { f64 x, y; };
static inline ulonglong2 make_ulonglong2(u64 x, u64 y) { return {x, y}; }
static inline double2 make_double2(f64 x, f64 y) { return {x, y}; }

// ------------------------------------------------------------ threads

struct Place { u32 x, y, z; };
static Place threadIdx, blockIdx, blockDim, gridDim;
static u32 dynamic_shared[1024];

enum Wait { READY, WARP, BLOCK, GONE };
struct Fibre {
    ucontext_t context;
    Place place;
    Wait wait;
    u32 members;    // of a meeting of the warp
    u64 given;      // what the thread brings
    u64 seen[32];   // what the members brought, as they met
    char *stack;
};
static const u32 MOST = 256, STACK = 1 << 16;
static Fibre fibres[MOST];
static u32 threads, current;
static ucontext_t scheduler;
static void (*body)();

static void wait(Wait why) {
    fibres[current].wait = why;
    swapcontext(&fibres[current].context, &scheduler);
}
static void enter() {
    body();
    wait(GONE);
}
static u32 lane() { return current & 31; }
static const u64 *meet(u32 members, u64 given) {
    Fibre &own = fibres[current];
    own.members = members, own.given = given;
    wait(WARP);
    return own.seen;
}
static u64 meet_block(u64 given) { // the sum of what all threads bring
    fibres[current].given = given;
    wait(BLOCK);
    return fibres[current].seen[0];
}
static bool open_warp(u32 first, u32 members) {
    u32 size = threads - first < 32 ? threads - first : 32;
    u32 present = size == 32 ? ~0u : (1u << size) - 1;
    for (u32 i = 0; i < size; i++) {
        Fibre &f = fibres[first + i];
        if (members >> i & 1 && (f.wait != WARP || f.members != members)) return false;
    }
    for (u32 i = 0; i < size; i++) {
        if (!(members & present) || !(members >> i & 1)) continue;
        for (u32 j = 0; j < size; j++) fibres[first + i].seen[j] = fibres[first + j].given;
        fibres[first + i].wait = READY;
    }
    return true;
}
static bool open_block() {
    u64 sum = 0;
    bool any = false;
    for (u32 i = 0; i < threads; i++) {
        if (fibres[i].wait != BLOCK && fibres[i].wait != GONE) return false;
        if (fibres[i].wait == BLOCK) sum += fibres[i].given, any = true;
    }
    for (u32 i = 0; i < threads; i++)
        if (fibres[i].wait == BLOCK) fibres[i].seen[0] = sum, fibres[i].wait = READY;
    return any;
}
static bool turn() {
    bool moved = false;
    for (current = 0; current < threads; current++) {
        if (fibres[current].wait != READY) continue;
        threadIdx = fibres[current].place;
        swapcontext(&scheduler, &fibres[current].context);
        moved = true;
    }
    for (u32 i = 0; i < threads; i++)
        if (fibres[i].wait == WARP) moved |= open_warp(i & ~31u, fibres[i].members);
    return moved | open_block();
}
static void run_block() {
    threads = blockDim.x * blockDim.y;
    for (u32 i = 0; i < threads; i++) {
        Fibre &f = fibres[i];
        if (!f.stack) f.stack = (char *)malloc(STACK);
        f.place = {i % blockDim.x, i / blockDim.x, 0};
        f.wait = READY;
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack;
        f.context.uc_stack.ss_size = STACK;
        f.context.uc_link = &scheduler;
        makecontext(&f.context, enter, 0);
    }
    while (turn()) {}
    for (u32 i = 0; i < threads; i++)
        if (fibres[i].wait != GONE) fprintf(stderr, "deadlock of the host's threads\n"), exit(3);
}
static void launch(Place grid, Place block, void (*kernel)()) {
    gridDim = grid, blockDim = block, body = kernel;
    for (u32 i = 0; i < grid.x; i++) blockIdx = {i, 0, 0}, run_block();
}

static inline u32 second_dynamic() { return dynamic_shared[1]; }

// ------------------------------------------------------------ barriers, votes, shuffles

static inline void __syncthreads() { meet_block(0); }
static inline int __syncthreads_count(int p) { return (int)meet_block(p != 0); }
static inline int __syncthreads_and(int p) { return meet_block(p == 0) == 0; }
static inline int __syncthreads_or(int p) { return meet_block(p != 0) != 0; }
static inline void __syncwarp(u32 members = ~0u) { meet(members, 0); }
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline u32 __ballot_sync(u32 members, int p) {
    const u64 *all = meet(members, p != 0);
    u32 result = 0;
    for (u32 i = 0; i < 32; i++)
        if (members >> i & 1) result |= (u32)all[i] << i;
    return result;
}
static inline int __all_sync(u32 members, int p) { return __ballot_sync(members, p) == members; }
static inline int __any_sync(u32 members, int p) { return __ballot_sync(members, p) != 0; }
static inline u32 __match_any_sync(u32 members, u64 value) {
    const u64 *all = meet(members, value);
    u32 result = 0;
    for (u32 i = 0; i < 32; i++)
        if (members >> i & 1 && all[i] == value) result |= 1u << i;
    return result;
}
static inline u32 __match_any_sync(u32 members, u32 value) { return __match_any_sync(members, (u64)value); }
static inline u32 __match_all_sync(u32 members, u64 value, int *same) {
    u32 equal = __match_any_sync(members, value);
    u32 everyone = __ballot_sync(members, equal == members) == members ? members : 0;
    *same = everyone != 0;
    return everyone;
}
static inline u32 __match_all_sync(u32 members, u32 value, int *same) {
    return __match_all_sync(members, (u64)value, same);
}
template <class T> static T shuffled(u32 members, T value, u32 from) {
    u64 word = 0;
    memcpy(&word, &value, sizeof value);
    const u64 *all = meet(members, word);
    memcpy(&value, &all[from], sizeof value);
    return value;
}
template <class T> static T __shfl_sync(u32 members, T value, int from, int width = 32) {
    u32 first = lane() & ~(u32)(width - 1);
    return shuffled(members, value, first | ((u32)from & (u32)(width - 1)));
}
template <class T> static T __shfl_up_sync(u32 members, T value, u32 by, int width = 32) {
    u32 within = lane() & (u32)(width - 1);
    return shuffled(members, value, by <= within ? lane() - by : lane());
}
template <class T> static T __shfl_down_sync(u32 members, T value, u32 by, int width = 32) {
    u32 within = lane() & (u32)(width - 1);
    return shuffled(members, value, within + by < (u32)width ? lane() + by : lane());
}
template <class T> static T __shfl_xor_sync(u32 members, T value, int by, int width = 32) {
    u32 from = lane() ^ (u32)by, last = (lane() & ~(u32)(width - 1)) + (u32)width - 1;
    return shuffled(members, value, from <= last ? from : lane());
}

// ------------------------------------------------------------ atomics

template <class T> static T replace(T *at, T value) {
    T old = *at;
    *at = value;
    return old;
}
template <class To, class From> static To bits(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}
static inline f32 clean(f32 a) { return a == a ? a : bits<f32>(0x7fffffffu); }
static inline f64 clean(f64 a) { return a == a ? a : bits<f64>(0xfff8000000000000ull); }
static inline f32 flushed(f32 a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }
#define ATOMIC(name, T, value)                                                                                        \
    static inline T name(T *at, T by) {                                                                               \
        T old = *at;                                                                                                  \
        return replace(at, (T)(value));                                                                               \
    }
#define INTEGER_ATOMICS(T)                                                                                            \
    ATOMIC(atomicExch, T, (void(old), by))                                                                            \
    ATOMIC(atomicMin, T, by < old ? by : old)                                                                         \
    ATOMIC(atomicMax, T, by > old ? by : old)                                                                         \
    ATOMIC(atomicAnd, T, old & by)                                                                                    \
    ATOMIC(atomicOr, T, old | by)                                                                                     \
    ATOMIC(atomicXor, T, old ^ by)                                                                                    \
    static inline T atomicCAS(T *at, T compare, T by) { return *at == compare ? replace(at, by) : *at; }
INTEGER_ATOMICS(u32)
INTEGER_ATOMICS(s32)
INTEGER_ATOMICS(u64)
INTEGER_ATOMICS(s64)
ATOMIC(atomicAdd, u32, old + by)
ATOMIC(atomicAdd, s32, (u32)old + (u32)by)
ATOMIC(atomicAdd, u64, old + by)
ATOMIC(atomicSub, u32, old - by)
ATOMIC(atomicSub, s32, (u32)old - (u32)by)
ATOMIC(atomicInc, u32, old >= by ? 0 : old + 1)
ATOMIC(atomicDec, u32, old == 0 || old > by ? by : old - 1)
ATOMIC(atomicAdd, f32, clean(flushed(flushed(old) + flushed(by)))) // flushed in global memory; in shared memory only integers are added
ATOMIC(atomicAdd, f64, clean(old + by))
ATOMIC(atomicExch, f32, (void(old), by))
static inline u16 atomicCAS(u16 *at, u16 compare, u16 by) { return *at == compare ? replace(at, by) : *at; }

// ------------------------------------------------------------ integers

template <class T> static T __ldg(const T *at) { return *at; }
#define SMALLER(T)                                                                                                    \
    static inline T min(T a, T b) { return b < a ? b : a; }                                                           \
    static inline T max(T a, T b) { return a < b ? b : a; }
SMALLER(u32) SMALLER(s32) SMALLER(u64) SMALLER(s64)
static inline u32 __umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
static inline s32 __mulhi(s32 a, s32 b) { return (s32)((s64)a * b >> 32); }
static inline u64 __umul64hi(u64 a, u64 b) { return (u64)((u128)a * b >> 64); }
static inline s64 __mul64hi(s64 a, s64 b) { return (s64)((s128)a * b >> 64); }
static inline u32 __umul24(u32 a, u32 b) { return (u32)((u64)(a & 0xffffff) * (b & 0xffffff)); }
static inline s32 __mul24(s32 a, s32 b) { return (s32)(u32)((s64)((s32)((u32)a << 8) >> 8) * ((s32)((u32)b << 8) >> 8)); }
static inline u32 __sad(s32 a, s32 b, u32 c) { return (u32)(a < b ? (s64)b - a : (s64)a - b) + c; }
static inline u32 __usad(u32 a, u32 b, u32 c) { return (a < b ? b - a : a - b) + c; }
static inline s32 __hadd(s32 a, s32 b) { return (s32)(((s64)a + b) >> 1); }
static inline s32 __rhadd(s32 a, s32 b) { return (s32)(((s64)a + b + 1) >> 1); }
static inline u32 __uhadd(u32 a, u32 b) { return (u32)(((u64)a + b) >> 1); }
static inline u32 __urhadd(u32 a, u32 b) { return (u32)(((u64)a + b + 1) >> 1); }
static inline u64 __brevll(u64 a) {
    u64 r = 0;
    for (int i = 0; i < 64; i++) r |= (a >> i & 1) << (63 - i);
    return r;
}
static inline u32 __brev(u32 a) { return (u32)(__brevll(a) >> 32); }
static inline int __clzll(u64 a) { return a ? __builtin_clzll(a) : 64; }
static inline int __clz(u32 a) { return a ? __builtin_clz(a) : 32; }
static inline int __ffsll(u64 a) { return __builtin_ffsll((s64)a); }
static inline int __ffs(u32 a) { return __builtin_ffs((s32)a); }
static inline int __popcll(u64 a) { return __builtin_popcountll(a); }
static inline int __popc(u32 a) { return __builtin_popcount(a); }
static inline u32 __byte_perm(u32 a, u32 b, u32 selector) {
    u64 both = (u64)b << 32 | a;
    u32 r = 0;
    for (int i = 0; i < 4; i++) r |= (u32)(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return r;
}
static inline u32 __funnelshift_l(u32 low, u32 high, u32 by) { return (u32)(((u64)high << 32 | low) << (by & 31) >> 32); }
static inline u32 __funnelshift_r(u32 low, u32 high, u32 by) { return (u32)(((u64)high << 32 | low) >> (by & 31)); }
static inline u32 __funnelshift_lc(u32 low, u32 high, u32 by) {
    return by >= 32 ? low : __funnelshift_l(low, high, by);
}
static inline u32 __funnelshift_rc(u32 low, u32 high, u32 by) {
    return by >= 32 ? high : __funnelshift_r(low, high, by);
}
static inline u32 __dp4a(u32 a, u32 b, u32 c) {
    for (int i = 0; i < 32; i += 8) c += (u32)(u8)(a >> i) * (u8)(b >> i);
    return c;
}
static inline s32 __dp4a(s32 a, s32 b, s32 c) {
    for (int i = 0; i < 32; i += 8) c = add(c, (s8)(a >> i) * (s8)(b >> i));
    return c;
}
static inline u32 __dp2a_lo(u32 a, u32 b, u32 c) { return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff); }
static inline u32 bit_field(u32 a, u32 at, u32 bits) {
    at &= 255, bits &= 255;
    u64 field = at > 31 ? 0 : (u64)a >> at;
    return bits > 31 ? (u32)field : (u32)(field & ((1ull << bits) - 1));
}
static inline u64 bit_field(u64 a, u32 at, u32 bits) {
    at &= 255, bits &= 255;
    u64 field = at > 63 ? 0 : a >> at;
    return bits > 63 ? field : field & ((1ull << bits) - 1);
}
static inline s32 bit_field(s32 a, u32 at, u32 bits) {
    at &= 255, bits &= 255;
    u32 sign = bits == 0 ? 0 : (u32)a >> (at + bits - 1 < 31 ? at + bits - 1 : 31) & 1, r = 0;
    for (u32 i = 0; i < 32; i++) r |= (i < bits && at + i < 32 ? (u32)a >> (at + i) & 1 : sign) << i;
    return (s32)r;
}
template <class T> static T inserted(T a, T b, u32 at, u32 bits) {
    const u32 size = 8 * sizeof(T);
    at &= 255, bits &= 255;
    for (u32 i = 0; i < bits && at + i < size && i < size; i++)
        b = (T)((b & ~((T)1 << (at + i))) | (T)(a >> i & 1) << (at + i));
    return b;
}
static inline u32 leading(u32 a) { return a ? 31 - (u32)__builtin_clz(a) : ~0u; }
static inline u32 leading(s32 a) { return leading((u32)(a < 0 ? ~a : a)); }
static inline s32 saturated(s32 a, s32 b) {
    s64 sum = (s64)a + b;
    return sum > 0x7fffffff ? 0x7fffffff : sum < -0x80000000ll ? (s32)0x80000000u : (s32)sum;
}
static inline u32 chosen(u32 a, u32 b, s32 c) { return c >= 0 ? a : b; }
static inline u32 majority(u32 a, u32 b, u32 c) { return (a & b) | (a & c) | (b & c); }
static inline u32 carried(u32 a, u32 b, u32 c, u32 d) { return (a - b) ^ (c - d - (a < b)); }
static inline u32 multiplied(u32 a, u32 b, u32 c, u32 d) {
    u64 product = (u64)a * b;
    u32 low = (u32)product + c;
    return low ^ ((u32)(product >> 32) + d + (low < c));
}
static inline u32 into_factor(u32 a, u32 b, u32 c, u32 d) {
    u64 sum = (u64)a * b + ((u64)d << 32 | c);
    return (u32)sum ^ (u32)(sum >> 32);
}
static inline u32 factor_moves(u32 a, u32 b, u32 c, u32 d) { return into_factor(a, b, c, d) ^ a ^ d; }
static inline u32 sign_in_half(s32 a) { return (u16)(s8)a; }
static inline s64 magnitude(s64 a) { return absolute(a); }
static inline u32 nine_predicates(u32 a, u32 b) {
    u32 d = 1;
    for (u32 k = 0; k < 9; k++) d = (a < 1u << (3 * k + 3) ? d ^ b : d) * 2;
    return d;
}
static inline u32 guarded_once(u32 a, u32 b) { return a < b ? a ^ b : a; }
static inline s32 product24(s32 a, s32 b) { return __mul24(a, b); }
static inline u32 guarded(u32 a, u32 b, u32 c) { return b < c ? a ^ c : a + b; }
static inline u32 saturated_half(u32 a) { return a > 0xffff ? 0xffff : a; }
static inline s8 narrowed(s32 a) { return (s8)(a > 127 ? 127 : a < -128 ? -128 : a); }

// ------------------------------------------------------------ floating point

static inline f32 __uint_as_float(u32 a) { return bits<f32>(a); }
static inline f32 __int_as_float(s32 a) { return bits<f32>(a); }
static inline u32 __float_as_uint(f32 a) { return bits<u32>(a); }
static inline s32 __float_as_int(f32 a) { return bits<s32>(a); }
static inline s64 __double_as_longlong(f64 a) { return bits<s64>(a); }
static inline f64 __longlong_as_double(s64 a) { return bits<f64>(a); }
static inline s32 __double2hiint(f64 a) { return (s32)(bits<s64>(a) >> 32); }
static inline s32 __double2loint(f64 a) { return (s32)bits<s64>(a); }
static inline f64 __hiloint2double(s32 high, s32 low) { return bits<f64>((u64)(u32)high << 32 | (u32)low); }

struct Rounding { // in effect while it lives
    explicit Rounding(int mode) { fesetround(mode); }
    ~Rounding() { fesetround(FE_TONEAREST); }
};
#define ROUNDED(type, name, parameters, value, suffix, mode)                                                          \
    static __attribute__((noinline)) type name##suffix parameters {                                                   \
        Rounding rounding(mode);                                                                                      \
        volatile type result = (type)(value);                                                                         \
        return result;                                                                                                \
    }
#define EVERY_ROUNDING(type, name, parameters, value)                                                                 \
    ROUNDED(type, name, parameters, value, _rn, FE_TONEAREST)                                                         \
    ROUNDED(type, name, parameters, value, _rz, FE_TOWARDZERO)                                                        \
    ROUNDED(type, name, parameters, value, _ru, FE_UPWARD)                                                            \
    ROUNDED(type, name, parameters, value, _rd, FE_DOWNWARD)
#define FLOATING(T, letter)                                                                                           \
    EVERY_ROUNDING(T, __##letter##add, (T a, T b), clean((volatile T &)a + b))                                        \
    EVERY_ROUNDING(T, __##letter##sub, (T a, T b), clean((volatile T &)a - b))                                        \
    EVERY_ROUNDING(T, __##letter##mul, (T a, T b), clean((volatile T &)a * b))                                        \
    EVERY_ROUNDING(T, __##letter##div, (T a, T b), clean((volatile T &)a / b))                                        \
    EVERY_ROUNDING(T, __##letter##rcp, (T a), clean(1 / (volatile T &)a))                                             \
    EVERY_ROUNDING(T, __##letter##sqrt, (T a), clean(std::sqrt((volatile T &)a)))
FLOATING(f32, f)
FLOATING(f64, d)
EVERY_ROUNDING(f32, __fmaf, (f32 a, f32 b, f32 c), clean(fmaf((volatile f32 &)a, b, c)))
EVERY_ROUNDING(f64, __fma, (f64 a, f64 b, f64 c), clean(fma((volatile f64 &)a, b, c)))
EVERY_ROUNDING(f32, __int2float, (s32 a), (volatile s32 &)a)
EVERY_ROUNDING(f32, __uint2float, (u32 a), (s64)(volatile u32 &)a)
EVERY_ROUNDING(f32, __ll2float, (s64 a), (volatile s64 &)a)
EVERY_ROUNDING(f64, __ll2double, (s64 a), (volatile s64 &)a)
EVERY_ROUNDING(f32, __double2float, (f64 a), clean((f32)(volatile f64 &)a))
// An unsigned long long that has its top bit is halved, the lost bit kept for the rounding.
static inline u64 halved(u64 a) { return a >> 1 | (a & 1); }
EVERY_ROUNDING(f32, __ull2float, (u64 a), a >> 63 ? (f32)(s64)halved((volatile u64 &)a) * 2 : (f32)(s64)(volatile u64 &)a)
EVERY_ROUNDING(f64, __ull2double, (u64 a), a >> 63 ? (f64)(s64)halved((volatile u64 &)a) * 2 : (f64)(s64)(volatile u64 &)a)

static inline f32 plus(f32 a, f32 b) { return __fadd_rn(a, b); }
static inline f32 minus(f32 a, f32 b) { return __fsub_rn(a, b); }
static inline f32 times(f32 a, f32 b) { return __fmul_rn(a, b); }
static inline f32 over(f32 a, f32 b) { return __fdiv_rn(a, b); }
static inline f64 plus(f64 a, f64 b) { return __dadd_rn(a, b); }
static inline f64 minus(f64 a, f64 b) { return __dsub_rn(a, b); }
static inline f64 times(f64 a, f64 b) { return __dmul_rn(a, b); }
static inline f64 over(f64 a, f64 b) { return __ddiv_rn(a, b); }
static inline f64 widened(f32 a) { return clean((f64)a); }
static inline f64 __int2double_rn(s32 a) { return a; }
static inline f64 __uint2double_rn(u32 a) { return a; }
static inline f32 __saturatef(f32 a) { return a > 1 ? 1.0f : a > 0 ? a : 0.0f; } // NaN and -0 become +0

template <class T> static T least(T a, T b) {
    if (a != a) return clean(b);
    if (b != b || a < b || (a == b && std::signbit(a))) return a;
    return b;
}
template <class T> static T most(T a, T b) { return a != a ? clean(b) : b != b ? a : -least(-a, -b); }

// To integers: rounded to an integral value, then clamped; `none` is what a NaN becomes.
template <class To> static To clamped(f64 integral, To lowest, To highest, To none) {
    if (integral != integral) return none;
    if (integral <= (f64)lowest) return lowest;
    return integral >= (f64)highest ? highest : (To)integral;
}
static inline f64 nearest(f64 a) { return std::nearbyint(a); }
#define TO_INTEGER(From, To, name, lowest, highest, none)                                                             \
    static inline To name##_rn(From a) { return clamped<To>(nearest(a), lowest, highest, none); }                     \
    static inline To name##_rz(From a) { return clamped<To>(std::trunc((f64)a), lowest, highest, none); }             \
    static inline To name##_ru(From a) { return clamped<To>(std::ceil((f64)a), lowest, highest, none); }              \
    static inline To name##_rd(From a) { return clamped<To>(std::floor((f64)a), lowest, highest, none); }
static const s32 LOW32 = (s32)0x80000000u, HIGH32 = 0x7fffffff;
static const s64 LOW64 = (s64)(1ull << 63), HIGH64 = (s64)~(1ull << 63);
TO_INTEGER(f32, s32, __float2int, LOW32, HIGH32, 0)
TO_INTEGER(f32, u32, __float2uint, 0u, ~0u, 0u)
TO_INTEGER(f32, s64, __float2ll, LOW64, HIGH64, LOW64)
TO_INTEGER(f32, u64, __float2ull, 0ull, ~0ull, 1ull << 63)
TO_INTEGER(f64, s32, __double2int, LOW32, HIGH32, LOW32)
TO_INTEGER(f64, u32, __double2uint, 0u, ~0u, 1u << 31)
TO_INTEGER(f64, s64, __double2ll, LOW64, HIGH64, LOW64)
TO_INTEGER(f64, u64, __double2ull, 0ull, ~0ull, 1ull << 63)

// ------------------------------------------------------------ what kernels are given (sizes as in given.py)

alignas(16) static u8 input[1024], output[1 << 20], common[256], scalars[96];
