// CUDA's runtime library for a program that warploom cuda runs. What concerns the GPU is a request to that process,
// which answers when it is done (client.h). So streams and events have nothing to wait for. CUDART_MAJOR is the version
// of CUDA that the program was compiled with.
#include <iterator>

#include "device.h"
#include "kernels.h"
#include "memory.h"
#include "streams.h"
#include "variables.h"

// The device

API Error cudaGetDeviceCount(int* count) {
    *count = 1;
    return SUCCESS;
}

API Error cudaGetDevice(int* number) { return zero(number); }
API Error cudaChooseDevice(int* number, const void*) { return zero(number); }

static Error known(int number) { return number ? failed(INVALID_DEVICE) : SUCCESS; }

API Error cudaSetDevice(int number) { return known(number); }
SAME(cudaSetValidDevices, int*, int)

API Error cudaMemcpyPeer(void* to, int device_of_to, const void* from, int device_of_from, Size size) {
    const Error error = known(device_of_to | device_of_from);
    return error ? error : cudaMemcpy(to, from, size, 3);
}

API Error cudaMemcpyPeerAsync(void* to, int device_of_to, const void* from, int device_of_from, Size size, Stream) {
    return cudaMemcpyPeer(to, device_of_to, from, device_of_from, size);
}

API Error cudaGetDeviceProperties(Properties* into, int number) {
    if (!number) *into = properties();
    return known(number);
}

API Error cudaGetDeviceProperties_v2(Properties* into, int number) { return cudaGetDeviceProperties(into, number); }

API Error cudaDeviceGetAttribute(int* value, int which, int number) {
    if (!number) *value = attribute(which);
    return known(number);
}

static Error version(int* number) {
    *number = 1000 * CUDART_MAJOR;
    return SUCCESS;
}

API Error cudaDriverGetVersion(int* number) { return version(number); }
API Error cudaRuntimeGetVersion(int* number) { return version(number); }

API Error cudaDeviceGetPCIBusId(char* text, int size, int number) {
    std::snprintf(text, size, "0000:00:00.0");
    return known(number);
}

API Error cudaDeviceGetByPCIBusId(int* number, const char*) { return zero(number); }

API Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    *least = *greatest = 0;
    return SUCCESS;
}

API Error cudaDeviceCanAccessPeer(int* can, int, int) { return zero(can); }

// By its number in cudaLimit: stack, text that kernels print, heap, nested launches (two), fetches of L2, kept in it.
static Size limits[] = {1024, 1 << 20, 1 << 23, 2, 2048, 128, 0};

API Error cudaDeviceGetLimit(Size* size, int which) {
    if (which < 0 || which >= static_cast<int>(std::size(limits))) return failed(UNSUPPORTED_LIMIT);
    *size = limits[which];
    return SUCCESS;
}

API Error cudaDeviceSetLimit(int which, Size size) {
    if (which < 0 || which >= static_cast<int>(std::size(limits))) return failed(UNSUPPORTED_LIMIT);
    if (!which)
        if (const Error error = ask(Verb::LIMIT_STACK, size).error) return error;
    limits[which] = size;                // the others are for the program to read: nothing has one here
    return SUCCESS;
}

API Error cudaGetDeviceFlags(unsigned* flags) {
    *flags = 8;                          // cudaDeviceMapHost
    return SUCCESS;
}

SAME(cudaDeviceSynchronize)
SAME(cudaDeviceReset)
SAME(cudaThreadSynchronize)
SAME(cudaThreadExit)
SAME(cudaCtxResetPersistingL2Cache)
SAME(cudaDeviceSetCacheConfig, int)
SAME(cudaDeviceSetSharedMemConfig, int)
API Error cudaDeviceGetCacheConfig(int* config) { return zero(config); }
API Error cudaDeviceGetSharedMemConfig(int* config) { return zero(config); }
SAME(cudaSetDeviceFlags, unsigned)
SAME(cudaInitDevice, int, unsigned, unsigned)
SAME(cudaProfilerStart)
SAME(cudaProfilerStop)

API Error cudaPeekAtLastError() { return fault ? fault.load() : last; }

API Error cudaGetLastError() {
    const Error error = cudaPeekAtLastError();
    last = SUCCESS;
    return error;
}

struct Channel { int x, y, z, w, kind; };    // cudaChannelFormatDesc

API Channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return {x, y, z, w, kind}; }

API const char* cudaGetErrorName(int error) {
    return ERRORS.count(error) ? ERRORS.at(error).name : "unrecognized error code";
}

API const char* cudaGetErrorString(int error) {
    return ERRORS.count(error) ? ERRORS.at(error).text : "unrecognized error code";
}

#define ALIAS(other, name) API Error other() __attribute__((alias(#name)));
#define MISSING(name) API Error name() { return unsupported(#name); }
#include "others.h"                      // the other functions of the library, which library.py writes
