// Atomics: no other fibre runs meanwhile.
template <class T> static T replace(T *at, T value) {
    T old = *at;
    *at = value;
    return old;
}
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
