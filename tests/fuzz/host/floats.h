// Floating point: every rounding, and conversions to and from integers.
template <class To, class From> static To bits(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}
static inline f32 clean(f32 a) { return a == a ? a : bits<f32>(0x7fffffffu); }
static inline f64 clean(f64 a) { return a == a ? a : bits<f64>(0xfff8000000000000ull); }
static inline f32 flushed(f32 a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }

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
