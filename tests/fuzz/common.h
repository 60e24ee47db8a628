// What a random program uses beyond CUDA's own functions, alike for nvcc and for the host. Signed arithmetic goes
// through unsigned, since its overflow is undefined; a NaN is replaced before its bits can be seen.
typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef float f32;
typedef double f64;
typedef unsigned __int128 u128;
typedef __int128 s128;

// A structure that kernels take by value, and one that functions return.
struct Bundle {
    u64 large;
    u32 word[4];
    u8 small;
    f32 real;
};
struct Result {
    u32 a;
    u64 b;
    s16 c;
    f32 d;
};
// A structure that functions take and return, and one of a variable of the module, whose address is no multiple of 8.
struct Mixed {
    s16 a;
    s8 b;
    u8 c;
    u32 d;
};
struct __attribute__((packed)) Record {
    u8 kind;
    s16 number;
    u32 *place;
    s8 last;
};

HELPER s32 add(s32 a, s32 b) { return (s32)((u32)a + (u32)b); }
HELPER s32 sub(s32 a, s32 b) { return (s32)((u32)a - (u32)b); }
HELPER s32 mul(s32 a, s32 b) { return (s32)((u32)a * (u32)b); }
HELPER s64 add(s64 a, s64 b) { return (s64)((u64)a + (u64)b); }
HELPER s64 sub(s64 a, s64 b) { return (s64)((u64)a - (u64)b); }
HELPER s64 mul(s64 a, s64 b) { return (s64)((u64)a * (u64)b); }
HELPER s32 quotient(s32 a, s32 b) { return b == 0 || b == -1 ? a : a / b; }
HELPER s32 rest(s32 a, s32 b) { return b == 0 || b == -1 ? a : a % b; }
HELPER s64 quotient(s64 a, s64 b) { return b == 0 || b == -1 ? a : a / b; }
HELPER s64 rest(s64 a, s64 b) { return b == 0 || b == -1 ? a : a % b; }
HELPER s128 quotient(s128 a, s128 b) { return b == 0 || b == -1 ? a : a / b; }
HELPER s128 rest(s128 a, s128 b) { return b == 0 || b == -1 ? a : a % b; }
HELPER s32 absolute(s32 a) { return a < 0 ? sub(0, a) : a; }
HELPER s64 absolute(s64 a) { return a < 0 ? sub((s64)0, a) : a; }
HELPER f32 known(f32 a) { return a == a ? a : 1.5f; }
HELPER f64 known(f64 a) { return a == a ? a : 2.5; }
HELPER u64 high(u128 a) { return (u64)(a >> 64); }
HELPER u128 wide(u64 high, u64 low) { return (u128)high << 64 | low; }

static __device__ __noinline__ s8 lesser(s8 a, s16 b) { return a < b ? a : (s8)(b >> 3); }
static __device__ __noinline__ s16 scaled(s16 a, s8 b) { return (s16)(a * b >> 2); }
static __device__ __noinline__ Mixed turned(Mixed m, u32 by) {
    return {(s16)(m.b + by), (s8)(m.c ^ by), (u8)(m.a >> 3), m.d - (u32)m.b};
}
HELPER u32 folded(Mixed m) { return m.d ^ (u32)m.a * 3u ^ (u32)m.b << 9 ^ (u32)m.c << 20; }
