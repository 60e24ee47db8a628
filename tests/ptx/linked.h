// What linked_main.cu and linked_functions.cu share. g++ -x c++ makes a program of the two as of CUDA's.
#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#define __device__
#define __constant__
#endif
typedef unsigned u32;

struct Shape {
    u32 size;
    BOTH virtual u32 area(u32 scale) const;
    BOTH virtual u32 twice(u32 scale) const { return 2 * area(scale); }
};

struct Row {
    u32 values[3];
    unsigned char kind;
};

template <class T> BOTH inline T mixed(T a, T b) { return (a ^ b * 77) + (a << 3); }

extern __device__ u32 counter;
extern __constant__ u32 weights[4];
extern __device__ u32 (*chosen)(u32);
extern BOTH u32 helper(u32 a, float b);
extern BOTH Row rotated(Row row, u32 by);
