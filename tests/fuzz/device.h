// The device's side of `common.h`: what CUDA C has no function for is PTX. No operand is tied to another one ("+r"),
// since nvcc loses the value of such a one (docs/random_programs.md).
#define HELPER static __device__ __forceinline__
#include "common.h"
#define ROLLED _Pragma("unroll 1")
#define DYNAMIC_SHARED(name) extern __shared__ u32 name[]

template <class T> __device__ __forceinline__ T *hidden(T *at) { // where it points is not known to nvcc
    T *d;
    asm("mov.u64 %0, %1;" : "=l"(d) : "l"(at));
    return d;
}
HELPER f32 plus(f32 a, f32 b) { return a + b; }
HELPER f32 minus(f32 a, f32 b) { return a - b; }
HELPER f32 times(f32 a, f32 b) { return a * b; }
HELPER f32 over(f32 a, f32 b) { return a / b; }
HELPER f64 plus(f64 a, f64 b) { return a + b; }
HELPER f64 minus(f64 a, f64 b) { return a - b; }
HELPER f64 times(f64 a, f64 b) { return a * b; }
HELPER f64 over(f64 a, f64 b) { return a / b; }
HELPER f32 least(f32 a, f32 b) { return fminf(a, b); }
HELPER f32 most(f32 a, f32 b) { return fmaxf(a, b); }
HELPER f64 least(f64 a, f64 b) { return fmin(a, b); }
HELPER f64 most(f64 a, f64 b) { return fmax(a, b); }
HELPER f64 widened(f32 a) { return (f64)a; }
// PTX keeps positions and lengths of bit fields below 256.
HELPER u32 bit_field(u32 a, u32 at, u32 bits) {
    u32 d;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(at & 255u), "r"(bits & 255u));
    return d;
}
HELPER s32 bit_field(s32 a, u32 at, u32 bits) {
    s32 d;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(at & 255u), "r"(bits & 255u));
    return d;
}
HELPER u64 bit_field(u64 a, u32 at, u32 bits) {
    u64 d;
    asm("bfe.u64 %0, %1, %2, %3;" : "=l"(d) : "l"(a), "r"(at & 255u), "r"(bits & 255u));
    return d;
}
HELPER u32 inserted(u32 a, u32 b, u32 at, u32 bits) {
    u32 d;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(at & 255u), "r"(bits & 255u));
    return d;
}
HELPER u64 inserted(u64 a, u64 b, u32 at, u32 bits) {
    u64 d;
    asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(d) : "l"(a), "l"(b), "r"(at & 255u), "r"(bits & 255u));
    return d;
}
HELPER u32 leading(u32 a) {
    u32 d;
    asm("bfind.u32 %0, %1;" : "=r"(d) : "r"(a));
    return d;
}
HELPER u32 leading(s32 a) {
    u32 d;
    asm("bfind.s32 %0, %1;" : "=r"(d) : "r"(a));
    return d;
}
HELPER s32 saturated(s32 a, s32 b) {
    s32 d;
    asm("add.sat.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
HELPER u32 chosen(u32 a, u32 b, s32 c) {
    u32 d;
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
HELPER u32 majority(u32 a, u32 b, u32 c) {
    u32 d;
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
HELPER u32 carried(u32 a, u32 b, u32 c, u32 d) { // low words, then high words: the high word of the difference
    u32 e, f;
    asm("sub.cc.u32 %0, %2, %3; subc.u32 %1, %4, %5;" : "=r"(e), "=r"(f) : "r"(a), "r"(b), "r"(c), "r"(d));
    return e ^ f;
}
HELPER u32 multiplied(u32 a, u32 b, u32 c, u32 d) { // (a * b + c, carried into a * b's high word + d)
    u32 e, f;
    asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %5;"
        : "=r"(e), "=r"(f) : "r"(a), "r"(b), "r"(c), "r"(d));
    return e ^ f;
}
HELPER u32 into_factor(u32 a, u32 b, u32 c, u32 d) { // a * b + (d, c), its low word where a was
    u32 e, f;
    asm("{ .reg .u32 l, h; mov.u32 %0, %2; mul.lo.u32 l, %0, %3; mul.hi.u32 h, %0, %3;\n"
        "add.cc.u32 %0, l, %4; addc.u32 %1, h, %5; }" : "=&r"(e), "=&r"(f) : "r"(a), "r"(b), "r"(c), "r"(d));
    return e ^ f;
}
HELPER u32 factor_moves(u32 a, u32 b, u32 c, u32 d) { // the same, but a is another one when the sum is made
    u32 e, f, g;
    asm("{ .reg .u32 l, h; mov.u32 %2, %3; mul.lo.u32 l, %2, %4; mul.hi.u32 h, %2, %4; xor.b32 %2, %2, %6;\n"
        "add.cc.u32 %0, l, %5; addc.u32 %1, h, %6; }"
        : "=&r"(e), "=&r"(f), "=&r"(g) : "r"(a), "r"(b), "r"(c), "r"(d));
    return e ^ f ^ g;
}
HELPER u32 guarded(u32 a, u32 b, u32 c) {
    u32 d;
    asm("{ .reg .pred p; mov.u32 %0, %1; setp.lt.u32 p, %2, %3; @p xor.b32 %0, %0, %3; @!p add.u32 %0, %0, %2; }"
        : "=&r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
HELPER u32 guarded_once(u32 a, u32 b) {
    u32 d;
    asm("{ .reg .pred p; mov.u32 %0, %1; setp.lt.u32 p, %0, %2; @p xor.b32 %0, %0, %2; }"
        : "=&r"(d) : "r"(a), "r"(b));
    return d;
}
HELPER s32 product24(s32 a, s32 b) {
    s32 d;
    asm("mul24.lo.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
HELPER u32 saturated_half(u32 a) {
    u32 d;
    asm("{ .reg .u16 h; cvt.sat.u16.u32 h, %1; cvt.u32.u16 %0, h; }" : "=r"(d) : "r"(a));
    return d;
}
HELPER u32 second_dynamic() { // of the dynamic shared memory, by an address that is known
    u32 d;
    asm volatile("{ .reg .u32 a; mov.u32 a, dynamic; ld.shared.u32 %0, [a+4]; }" : "=r"(d)::"memory");
    return d;
}
HELPER u32 sign_in_half(s32 a) {
    u32 d;
    asm("{ .reg .b16 h; cvt.u16.s8 h, %1; cvt.u32.u16 %0, h; }" : "=r"(d) : "r"(a));
    return d;
}
HELPER s64 magnitude(s64 a) {
    s64 d;
    asm("abs.s64 %0, %1;" : "=l"(d) : "l"(a));
    return d;
}
HELPER u32 nine_predicates(u32 a, u32 b) {
    u32 d;
    asm("{ .reg .pred p<9>; mov.u32 %0, 1;"
        "setp.lt.u32 p0, %1, 8; setp.lt.u32 p1, %1, 64; setp.lt.u32 p2, %1, 512; \n"
        "setp.lt.u32 p3, %1, 4096; setp.lt.u32 p4, %1, 32768; setp.lt.u32 p5, %1, 262144; \n"
        "setp.lt.u32 p6, %1, 2097152; setp.lt.u32 p7, %1, 16777216; setp.lt.u32 p8, %1, 134217728; \n"
        "@p0 xor.b32 %0, %0, %2; add.u32 %0, %0, %0; @p1 xor.b32 %0, %0, %2; add.u32 %0, %0, %0; \n"
        "@p2 xor.b32 %0, %0, %2; add.u32 %0, %0, %0; @p3 xor.b32 %0, %0, %2; add.u32 %0, %0, %0; \n"
        "@p4 xor.b32 %0, %0, %2; add.u32 %0, %0, %0; @p5 xor.b32 %0, %0, %2; add.u32 %0, %0, %0; \n"
        "@p6 xor.b32 %0, %0, %2; add.u32 %0, %0, %0; @p7 xor.b32 %0, %0, %2; add.u32 %0, %0, %0; \n"
        "@p8 xor.b32 %0, %0, %2; add.u32 %0, %0, %0; \n"
        " }"
        : "=&r"(d) : "r"(a), "r"(b));
    return d;
}
HELPER s8 narrowed(s32 a) {
    s32 d;
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(d) : "r"(a));
    return (s8)d;
}
HELPER u32 high_sum(u32 a, u32 b, u32 c) {
    u32 d;
    asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
HELPER s32 high_sum(s32 a, s32 b, s32 c) {
    s32 d;
    asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
HELPER s32 dot_halves(s32 a, u32 b, s32 c) {
    s32 d;
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
HELPER s32 dot_bytes(s32 a, u32 b, s32 c) {
    s32 d;
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
HELPER u32 third_word(u32 a, u32 b, u32 c, u32 d, u32 e, u32 f) { // of (e, c, a) - (f, d, b), and the others
    u32 x, y, z;
    asm("sub.cc.u32 %0, %3, %4; subc.cc.u32 %1, %5, %6; subc.u32 %2, %7, %8;"
        : "=&r"(x), "=&r"(y), "=r"(z) : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
    return x ^ y * 3 ^ z * 5;
}
HELPER u32 guarded_rounds(u32 a, u32 b, u32 bits) { // a is written under a guard before it is read
    u32 d;
    asm("{ .reg .pred p, q; .reg .u32 i, t; mov.u32 %0, %1; mov.u32 i, 0;\n"
        "again: shr.u32 t, %3, i; and.b32 t, t, 1; setp.ne.u32 p, t, 0; @p mov.u32 %0, %2; mad.lo.u32 %0, %0, 5, i;\n"
        "add.u32 i, i, 1; setp.lt.u32 q, i, 4; @q bra again; }"
        : "=&r"(d) : "r"(a), "r"(b), "r"(bits));
    return d;
}
HELPER u32 guarded_copy(u32 a, u32 b, u32 c) { // a copy of b in some lanes, changed while b is still wanted
    u32 d;
    asm("{ .reg .pred p; setp.lt.u32 p, %1, %3; mov.u32 %0, %1; @p mov.u32 %0, %2; add.u32 %0, %0, %3;\n"
        "xor.b32 %0, %0, %2; }" : "=&r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
HELPER u32 halves(u64 a, u64 b) { // pairs are taken apart and put together crosswise
    u64 c, d;
    asm("{ .reg .u32 l, h, m, n; mov.b64 {l, h}, %2; mov.b64 {m, n}, %3; mov.b64 %0, {n, l}; mov.b64 %1, {h, m}; }"
        : "=&l"(c), "=&l"(d) : "l"(a), "l"(b));
    return (u32)(c * 3 + d >> 16);
}
HELPER u32 guard_changes(u32 a, u32 b, u32 c) { // behind a branch around it, its condition is another one
    u32 d;
    asm("{ .reg .pred p; mov.u32 %0, %1; setp.lt.u32 p, %2, %3; @p bra over; setp.gt.u32 p, %0, %3;\n"
        "add.u32 %0, %0, %2; over: @p xor.b32 %0, %0, %3; }" : "=&r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
HELPER void locked(u32 *lock, volatile u32 *at, u32 by) { // each thread tries again until it has had its turn
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0u, 1u)) continue;
        *at = *at + by;
        __threadfence_block();
        atomicExch(lock, 0u);
        done = true;
    }
}
HELPER void spin(u32 *lock, volatile u32 *at, u32 by) { // waits for its turn: no two threads of a warp
    while (atomicCAS(lock, 0u, 1u)) {}
    *at = *at + by;
    __threadfence_block();
    atomicExch(lock, 0u);
}
HELPER u64 in_place(u64 a, u64 b, u32 places) { // results where operands were
    u64 d;
    asm("mov.u64 %0, %1; mul.lo.u64 %0, %0, %2; shl.b64 %0, %0, %3; mul.hi.u64 %0, %2, %0; sub.u64 %0, %2, %0;"
        : "=&l"(d) : "l"(a), "l"(b), "r"(places & 63));
    return d;
}
HELPER u32 without(u32 a, u32 b, u32 c) { // an inverted predicate joins a comparison
    u32 d;
    asm("{ .reg .pred p, q; setp.gt.u32 p, %1, %3; setp.lt.and.u32 q, %1, %2, !p; selp.u32 %0, %2, %3, q; }"
        : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
HELPER void patient(u32 *lock, volatile u32 *at, u32 by) { // gives up after more tries than it can need
    ROLLED for (u32 tries = 0; tries < 1u << 30; tries++) {
        if (atomicCAS(lock, 0u, 1u)) continue;
        *at = *at + by;
        __threadfence_block();
        atomicExch(lock, 0u);
        break;
    }
}
// The carry flag between additions and subtractions: a subtraction sets it where nothing was borrowed.
HELPER u32 flag_of_difference(u32 a, u32 b, u32 c, u32 d) {
    u32 e, f, g;
    asm("sub.cc.u32 %0, %3, %4; addc.cc.u32 %1, %5, %6; subc.u32 %2, %3, %5;"
        : "=&r"(e), "=&r"(f), "=r"(g) : "r"(a), "r"(b), "r"(c), "r"(d));
    return e ^ f * 3 ^ g * 5;
}
HELPER u32 flag_of_product(u32 a, u32 b, u32 c, u32 d) {
    u32 e, f, g;
    asm("mad.lo.cc.u32 %0, %3, %4, %5; subc.cc.u32 %1, %5, %6; madc.hi.u32 %2, %3, %4, %6;"
        : "=&r"(e), "=&r"(f), "=r"(g) : "r"(a), "r"(b), "r"(c), "r"(d));
    return e ^ f * 3 ^ g * 5;
}
HELPER u32 flag_of_guarded(u32 a, u32 b, u32 c, u32 d) { // a second difference in some lanes
    u32 e, f, g;
    asm("{ .reg .pred p; setp.lt.u32 p, %3, %5; sub.cc.u32 %0, %3, %4; @p sub.cc.u32 %0, %5, %6;\n"
        "madc.lo.cc.u32 %1, %3, %4, %5; subc.u32 %2, %5, %6; }"
        : "=&r"(e), "=&r"(f), "=r"(g) : "r"(a), "r"(b), "r"(c), "r"(d));
    return e ^ f * 3 ^ g * 5;
}
HELPER u64 flag_of_sum(u64 a, u64 b, u64 c, u64 d) {
    u64 e, f, g, h;
    asm("add.cc.u64 %0, %4, %5; subc.cc.u64 %1, %6, %7; subc.cc.u64 %2, %4, %6; addc.u64 %3, %5, %7;"
        : "=&l"(e), "=&l"(f), "=&l"(g), "=l"(h) : "l"(a), "l"(b), "l"(c), "l"(d));
    return e ^ f * 3 ^ g * 5 ^ h * 7;
}
