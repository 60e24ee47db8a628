// Barriers, votes, shuffles.
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
