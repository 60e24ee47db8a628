// Integer functions of CUDA, and those that are PTX in `device.h`.
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
static inline u32 __dp2a_hi(u32 a, u32 b, u32 c) { return __dp2a_lo(a, b >> 16, c); }
static inline s32 __dp2a_lo(s32 a, s32 b, s32 c) {
    return add(c, add((s16)a * (s8)b, (s16)((u32)a >> 16) * (s8)((u32)b >> 8)));
}
static inline s32 __dp2a_hi(s32 a, s32 b, s32 c) { return __dp2a_lo(a, b >> 16, c); }
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
static inline u32 high_sum(u32 a, u32 b, u32 c) { return __umulhi(a, b) + c; }
static inline s32 high_sum(s32 a, s32 b, s32 c) { return add(__mulhi(a, b), c); }
static inline s32 dot_halves(s32 a, u32 b, s32 c) {
    return add(c, add((s16)a * (s32)(b >> 16 & 0xff), (s16)((u32)a >> 16) * (s32)(b >> 24)));
}
static inline s32 dot_bytes(s32 a, u32 b, s32 c) {
    for (int i = 0; i < 32; i += 8) c = add(c, (s8)((u32)a >> i) * (s32)(b >> i & 0xff));
    return c;
}
static inline u32 third_word(u32 a, u32 b, u32 c, u32 d, u32 e, u32 f) {
    u64 low = ((u64)c << 32 | a), taken = ((u64)d << 32 | b), rest = low - taken;
    return (u32)rest ^ (u32)(rest >> 32) * 3 ^ (e - f - (low < taken)) * 5;
}
static inline u32 guarded_rounds(u32 a, u32 b, u32 bits) {
    for (u32 i = 0; i < 4; i++) a = (bits >> i & 1 ? b : a) * 5 + i;
    return a;
}
static inline u32 guarded_copy(u32 a, u32 b, u32 c) { return ((a < c ? b : a) + c) ^ b; }
static inline u32 halves(u64 a, u64 b) {
    return (u32)(((u64)(u32)a << 32 | b >> 32) * 3 + ((u64)(u32)b << 32 | a >> 32) >> 16);
}
static inline u32 guard_changes(u32 a, u32 b, u32 c) {
    if (b < c) return a ^ c;
    return a > c ? (a + b) ^ c : a + b;
}
static inline u64 in_place(u64 a, u64 b, u32 places) { return b - __umul64hi(b, a * b << (places & 63)); }
static inline u32 without(u32 a, u32 b, u32 c) { return a < b && a <= c ? b : c; }
static inline u32 flag_of_difference(u32 a, u32 b, u32 c, u32 d) {
    u64 sum = (u64)c + d + (a >= b);
    return (a - b) ^ (u32)sum * 3 ^ (a - c - (sum >> 32 == 0)) * 5;
}
static inline u32 flag_of_product(u32 a, u32 b, u32 c, u32 d) {
    u64 product = (u64)a * b;
    u32 low = (u32)product + c, borrow = low >= c;
    return low ^ (c - d - borrow) * 3 ^ ((u32)(product >> 32) + d + (c >= (u64)d + borrow)) * 5;
}
static inline u32 flag_of_guarded(u32 a, u32 b, u32 c, u32 d) {
    u32 x = a < c ? c : a, y = a < c ? d : b;
    u64 sum = (u64)(a * b) + c + (x >= y);
    return (x - y) ^ (u32)sum * 3 ^ (c - d - (sum >> 32 == 0)) * 5;
}
static inline u64 flag_of_sum(u64 a, u64 b, u64 c, u64 d) {
    u64 sum = a + b;
    bool first = sum >= a, second = c < (u128)d + first, third = a < (u128)c + second;
    return sum ^ (c - d - first) * 3 ^ (a - c - second) * 5 ^ (b + d + !third) * 7;
}
