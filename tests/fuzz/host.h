// CUDA on the host, one fibre for each thread of a block.
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

#define __global__
#define __device__
#define __constant__ static const
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__
#define __align__(n) __attribute__((aligned(n)))
#define ROLLED
#define DYNAMIC_SHARED(name) u32 *name = dynamic_shared
#define HELPER static inline
#include "common.h"

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

#include "host/threads.h"
#include "host/meetings.h"
#include "host/integers.h"
#include "host/floats.h"
#include "host/atomics.h"

// ------------------------------------------------------------ memory

template <class T> static T __ldg(const T *at) { return *at; }
template <class T> static T *hidden(T *at) { return at; }
static inline void locked(u32 *, u32 *at, u32 by) { *at += by; } // no other fibre runs meanwhile
static inline void spin(u32 *, u32 *at, u32 by) { *at += by; }
static inline void patient(u32 *, u32 *at, u32 by) { *at += by; }
static inline u32 second_dynamic() { return dynamic_shared[1]; }

// ------------------------------------------------------------ what kernels are given (sizes as in given.py)

alignas(16) static u8 input[1024], output[1 << 20], common[256], scalars[96];
