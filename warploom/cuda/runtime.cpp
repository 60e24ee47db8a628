// CUDA's runtime library for a program that warploom cuda runs. What concerns the GPU is a request to that process, which
// answers when it is done (client.h). So streams and events have nothing to wait for. CUDART_MAJOR is the version of CUDA
// that the program was compiled with.
//
// Memory of the host that kernels may use, managed or pinned, has the same address on both sides. It is sent before each
// launch and fetched after it.
#include <sys/mman.h>

#include <iterator>
#include <map>
#include <vector>

#include "client.h"
#include "device.h"

#define API extern "C" __attribute__((visibility("default")))
#define SAME(name, ...) API Error name(__VA_ARGS__) { return SUCCESS; }  // nothing to do here

using Stream = void*;
using Size = std::size_t;

struct Extents { unsigned x, y, z; };
struct Symbol { u64 module; std::string name; Size size; };
struct Kernel { u64 number, shared, registers, ptx; std::vector<u64> parameters; };  // bytes of each parameter
struct Call { Extents grid, block; Size shared; Stream stream; };
struct Config { Extents grid, block; Size shared; Stream stream; const void* attributes; unsigned count; };
struct Event { bool recorded; u64 cycles; };

constexpr u64 HEAP = 0x70;               // the first two digits of 48-bit addresses in the GPU's memory (session.py)
constexpr Size PAGE = 4096;

static std::map<const void*, Symbol> functions, variables;
static std::map<const void*, Kernel> kernels;
static std::map<u64, Size> both;         // memory of the host that kernels may use: address, bytes
static thread_local std::vector<Call> calls;

static Error unsupported(const char* function) {
    std::fprintf(stderr, "warploom: warning: %s is not supported: it returns an error\n", function);
    return failed(NOT_SUPPORTED);
}

// Kernels and variables

struct Container { int magic, version; const char* data; const char* const* linked; };

static std::string container(const char* data) {
    u64 size;
    std::memcpy(&size, data + 8, sizeof size);
    return {data, 16 + size};
}

API void** __cudaRegisterFatBinary(const Container* given) {
    std::string containers = container(given->data);
    if (given->version == 2)             // objects that nvcc -rdc=true has linked
        for (const char* const* object = given->linked; *object; ++object) containers += container(*object);
    return reinterpret_cast<void**>(ask(Verb::LOAD, 0, 0, 0, containers).value);
}

API void __cudaRegisterFatBinaryEnd(void**) {}
API void __cudaUnregisterFatBinary(void**) {}
API void __cudaInitModule(void**) {}

API void __cudaRegisterFunction(void** module, const void* function, char*, const char* name, int, void*, void*, void*,
                                void*, int*) {
    functions[function] = {reinterpret_cast<u64>(module), name, 0};
}

API void __cudaRegisterVar(void** module, const void* variable, char*, const char* name, int, Size size, int, int) {
    variables[variable] = {reinterpret_cast<u64>(module), name, size};
}

API void __cudaRegisterManagedVar(void**, void**, char*, const char* name, int, Size, int, int) {
    lost((std::string(name) + ": __managed__ variables are not supported: use cudaMallocManaged").c_str());
}

static Error find(const void* function, const Kernel*& kernel) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    if (!kernels.count(function)) {
        const auto symbol = functions.find(function);
        if (symbol == functions.end()) return failed(INVALID_FUNCTION);
        const Answer answer = ask(Verb::KERNEL, symbol->second.module, 0, 0, symbol->second.name);
        if (answer.error) return answer.error;
        std::vector<u64> numbers(answer.data.size() / sizeof(u64));
        std::memcpy(numbers.data(), answer.data.data(), answer.data.size());
        kernels[function] = {answer.value, numbers[0], numbers[1], numbers[2], {numbers.begin() + 3, numbers.end()}};
    }
    kernel = &kernels[function];
    return SUCCESS;
}

API Error cudaLaunchKernel(const void* function, Extents grid, Extents block, void** arguments, Size shared, Stream) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    const Kernel* kernel;
    if (const Error error = find(function, kernel)) return error;
    const u64 shape[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z, shared};
    std::string data(reinterpret_cast<const char*>(shape), sizeof shape);
    for (Size i = 0; i < kernel->parameters.size(); ++i)
        data.append(static_cast<const char*>(arguments[i]), kernel->parameters[i]);
    for (const auto& [address, size] : both)
        ask(Verb::WRITE, address, 0, 0, reinterpret_cast<const void*>(address), size);
    const Answer answer = ask(Verb::LAUNCH, kernel->number, 0, 0, data);
    std::fwrite(answer.data.data(), 1, answer.data.size(), stdout);       // what it has printed
    for (const auto& [address, size] : both) {
        const Answer now = ask(Verb::READ, address, size);
        std::memcpy(reinterpret_cast<void*>(address), now.data.data(), now.data.size());
    }
    return answer.error;
}

API Error cudaLaunchCooperativeKernel(const void* function, Extents grid, Extents block, void** arguments, Size shared,
                                      Stream stream) {
    return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}

API Error cudaLaunchKernelExC(const Config* config, const void* function, void** arguments) {
    return cudaLaunchKernel(function, config->grid, config->block, arguments, config->shared, config->stream);
}

API unsigned __cudaPushCallConfiguration(Extents grid, Extents block, Size shared, Stream stream) {
    calls.push_back({grid, block, shared, stream});
    return 0;
}

API Error __cudaPopCallConfiguration(Extents* grid, Extents* block, Size* shared, Stream* stream) {
    *grid = calls.back().grid;
    *block = calls.back().block;
    *shared = calls.back().shared;
    *stream = calls.back().stream;
    calls.pop_back();
    return SUCCESS;
}

API Error __cudaGetKernel(const void** kernel, const void* function) {
    *kernel = function;
    return SUCCESS;
}

API Error __cudaLaunchKernel(const void* function, Extents grid, Extents block, void** arguments, Size shared,
                             Stream stream) {
    return cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}

struct Attributes {                      // the start of cudaFuncAttributes
    Size shared, constant, local;
    int threads, registers, ptx, binary, cached, dynamic_shared, carveout;
};

API Error cudaFuncGetAttributes(Attributes* attributes, const void* function) {
    const Kernel* kernel;
    if (const Error error = find(function, kernel)) return error;
    *attributes = {};
    attributes->shared = kernel->shared;
    attributes->threads = THREADS;
    attributes->registers = kernel->registers;
    attributes->ptx = attributes->binary = kernel->ptx;
    attributes->dynamic_shared = device().shared - kernel->shared;
    return SUCCESS;
}

SAME(cudaFuncSetAttribute, const void*, int, int)
SAME(cudaFuncSetCacheConfig, const void*, int)
SAME(cudaFuncSetSharedMemConfig, const void*, int)

API Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                 Size shared, unsigned) {
    const Kernel* kernel;
    if (const Error error = find(function, kernel)) return error;
    const Answer answer = ask(Verb::OCCUPANCY, kernel->number, threads, shared);
    *blocks = answer.value;
    return answer.error;
}

API Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads, Size shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

// Memory

static bool on_gpu(const void* pointer) {    // and not on the host, too
    const std::lock_guard<std::recursive_mutex> held(lock);
    const u64 address = reinterpret_cast<u64>(pointer);
    const auto next = both.upper_bound(address);
    return address >> 40 == HEAP
        && (next == both.begin() || address - std::prev(next)->first >= std::prev(next)->second);
}

API Error cudaMalloc(void** pointer, Size size) {
    const Answer answer = ask(Verb::ALLOCATE, size ? size : 1, 1);
    *pointer = reinterpret_cast<void*>(answer.value);
    return answer.error;
}

API Error cudaMallocAsync(void** pointer, Size size, Stream) { return cudaMalloc(pointer, size); }

API Error cudaMallocPitch(void** pointer, Size* pitch, Size width, Size height) {
    *pitch = (width + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return cudaMalloc(pointer, *pitch * height);
}

API Error cudaMallocManaged(void** pointer, Size size, unsigned) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    const Size whole = (size + PAGE - 1) / PAGE * PAGE + !size * PAGE;
    const Answer answer = ask(Verb::ALLOCATE, whole, PAGE);
    if (answer.error) return answer.error;
    *pointer = reinterpret_cast<void*>(answer.value);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap(*pointer, whole, PROT_READ | PROT_WRITE, flags, -1, 0) != *pointer) return failed(MEMORY_ALLOCATION);
    both[answer.value] = whole;
    return SUCCESS;
}

API Error cudaMallocHost(void** pointer, Size size, unsigned) { return cudaMallocManaged(pointer, size, 0); }
API Error cudaHostAlloc(void** pointer, Size size, unsigned) { return cudaMallocManaged(pointer, size, 0); }
SAME(cudaHostRegister, void*, Size, unsigned)
SAME(cudaHostUnregister, void*)

API Error cudaHostGetDevicePointer(void** pointer, void* host, unsigned) {
    *pointer = host;
    return reinterpret_cast<u64>(host) >> 40 == HEAP ? SUCCESS : failed(INVALID_VALUE);
}

API Error cudaFree(void* pointer) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    const auto range = both.find(reinterpret_cast<u64>(pointer));
    if (range != both.end()) {
        munmap(pointer, range->second);
        both.erase(range);
    }
    return pointer ? ask(Verb::FREE, reinterpret_cast<u64>(pointer)).error : SUCCESS;
}

API Error cudaFreeHost(void* pointer) { return cudaFree(pointer); }
API Error cudaFreeAsync(void* pointer, Stream) { return cudaFree(pointer); }

API Error cudaMemcpy(void* to, const void* from, Size size, int kind) {
    const u64 target = reinterpret_cast<u64>(to), source = reinterpret_cast<u64>(from);
    const bool writes = on_gpu(to), reads = on_gpu(from);
    if (kind < 4 && ((writes && !(kind & 1)) || (reads && !(kind & 2)))) return failed(INVALID_COPY);
    if (writes && reads) return ask(Verb::COPY, target, source, size).error;
    if (writes) return ask(Verb::WRITE, target, 0, 0, from, size).error;
    if (!reads) return std::memmove(to, from, size), SUCCESS;
    const Answer answer = ask(Verb::READ, source, size);
    std::memcpy(to, answer.data.data(), answer.data.size());
    return answer.error;
}

API Error cudaMemcpyAsync(void* to, const void* from, Size size, int kind, Stream) {
    return cudaMemcpy(to, from, size, kind);
}

API Error cudaMemcpy2D(void* to, Size pitch, const void* from, Size from_pitch, Size width, Size height, int kind) {
    if (!width || !height) return SUCCESS;
    std::string target((height - 1) * pitch + width, '\0'), source((height - 1) * from_pitch + width, '\0');
    if (const Error error = cudaMemcpy(source.data(), from, source.size(), kind & 4 ? 4 : kind & 2)) return error;
    if (const Error error = cudaMemcpy(target.data(), to, target.size(), 4)) return error;   // what is between the rows
    for (Size row = 0; row < height; ++row) std::memcpy(&target[row * pitch], &source[row * from_pitch], width);
    return cudaMemcpy(to, target.data(), target.size(), kind & 4 ? 4 : kind & 1);
}

API Error cudaMemcpy2DAsync(void* to, Size pitch, const void* from, Size from_pitch, Size width, Size height, int kind,
                            Stream) {
    return cudaMemcpy2D(to, pitch, from, from_pitch, width, height, kind);
}

API Error cudaMemset(void* at, int value, Size size) {
    if (on_gpu(at)) return ask(Verb::FILL, reinterpret_cast<u64>(at), value & 0xFF, size).error;
    return std::memset(at, value, size), SUCCESS;
}

API Error cudaMemsetAsync(void* at, int value, Size size, Stream) { return cudaMemset(at, value, size); }

API Error cudaMemset2D(void* at, Size pitch, int value, Size width, Size height) {
    return height ? cudaMemcpy2D(at, pitch, std::string(width * height, static_cast<char>(value)).data(), width, width,
                                 height, 4) : SUCCESS;
}

API Error cudaMemset2DAsync(void* at, Size pitch, int value, Size width, Size height, Stream) {
    return cudaMemset2D(at, pitch, value, width, height);
}

static Error variable(const void* symbol, Size size, Size offset, const Symbol*& found) {
    const auto known = variables.find(symbol);
    if (known == variables.end()) return failed(INVALID_SYMBOL);
    found = &known->second;
    return size > found->size || offset > found->size - size ? failed(INVALID_VALUE) : SUCCESS;
}

static Error host_copy(std::string& data, const void* from) { return cudaMemcpy(data.data(), from, data.size(), 4); }

API Error cudaMemcpyToSymbol(const void* symbol, const void* from, Size size, Size offset, int) {
    const Symbol* to;
    if (const Error error = variable(symbol, size, offset, to)) return error;
    std::string data(size, '\0');
    if (const Error error = host_copy(data, from)) return error;
    return ask(Verb::SET, to->module, offset, 0, to->name + '\0' + data).error;
}

API Error cudaMemcpyFromSymbol(void* to, const void* symbol, Size size, Size offset, int) {
    const Symbol* from;
    if (const Error error = variable(symbol, size, offset, from)) return error;
    const Answer answer = ask(Verb::GET, from->module, offset, size, from->name);
    return answer.error ? answer.error : cudaMemcpy(to, answer.data.data(), answer.data.size(), 4);
}

API Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, Size size, Size offset, int kind, Stream) {
    return cudaMemcpyToSymbol(symbol, from, size, offset, kind);
}

API Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, Size size, Size offset, int kind, Stream) {
    return cudaMemcpyFromSymbol(to, symbol, size, offset, kind);
}

API Error cudaGetSymbolSize(Size* size, const void* symbol) {
    const Symbol* found;
    const Error error = variable(symbol, 0, 0, found);
    if (!error) *size = found->size;
    return error;
}

API Error cudaMemGetInfo(Size* unused, Size* all) {
    *unused = *all = device().memory;
    return SUCCESS;
}

struct Pointer { int type, device; void *on_device, *on_host; };  // the start of cudaPointerAttributes

API Error cudaPointerGetAttributes(Pointer* attributes, const void* pointer) {
    void* const same = const_cast<void*>(pointer);
    if (on_gpu(pointer)) *attributes = {2, 0, same, nullptr};
    else if (reinterpret_cast<u64>(pointer) >> 40 == HEAP) *attributes = {3, 0, same, same};
    else *attributes = {0, -2, nullptr, same};
    return SUCCESS;
}

SAME(cudaMemAdvise, const void*)
SAME(cudaMemPrefetchAsync, const void*)
SAME(cudaStreamAttachMemAsync, Stream)

// Streams and events: every call has ended when it returns

static Error made(Stream* stream) {
    static char streams;
    *stream = &streams;
    return SUCCESS;
}

API Error cudaStreamCreate(Stream* stream) { return made(stream); }
API Error cudaStreamCreateWithFlags(Stream* stream, unsigned) { return made(stream); }
API Error cudaStreamCreateWithPriority(Stream* stream, unsigned, int) { return made(stream); }
SAME(cudaStreamDestroy, Stream)
SAME(cudaStreamSynchronize, Stream)
SAME(cudaStreamQuery, Stream)
SAME(cudaStreamWaitEvent, Stream, Event*, unsigned)

API Error cudaStreamAddCallback(Stream stream, void callback(Stream, Error, void*), void* data, unsigned) {
    callback(stream, fault, data);
    return SUCCESS;
}

API Error cudaLaunchHostFunc(Stream, void function(void*), void* data) {
    function(data);
    return SUCCESS;
}

static Error not_capturing(int* status) {
    *status = 0;
    return SUCCESS;
}

API Error cudaStreamIsCapturing(Stream, int* status) { return not_capturing(status); }
API Error cudaStreamGetCaptureInfo(Stream, int* status) { return not_capturing(status); }
API Error cudaStreamGetCaptureInfo_v2(Stream, int* status) { return not_capturing(status); }
API Error cudaStreamGetCaptureInfo_v3(Stream, int* status) { return not_capturing(status); }

API Error cudaEventCreateWithFlags(Event** event, unsigned) {
    *event = new Event{};
    return SUCCESS;
}

API Error cudaEventCreate(Event** event) { return cudaEventCreateWithFlags(event, 0); }

API Error cudaEventRecord(Event* event, Stream) {
    const Answer answer = ask(Verb::CYCLES);
    *event = {true, answer.value};
    return answer.error;
}

API Error cudaEventRecordWithFlags(Event* event, Stream stream, unsigned) { return cudaEventRecord(event, stream); }
SAME(cudaEventSynchronize, Event*)
SAME(cudaEventQuery, Event*)

API Error cudaEventElapsedTime(float* milliseconds, const Event* start, const Event* end) {
    if (!start->recorded || !end->recorded) return failed(INVALID_HANDLE);
    *milliseconds = static_cast<float>(end->cycles - start->cycles) / CLOCK;
    return SUCCESS;
}

API Error cudaEventDestroy(Event* event) {
    delete event;
    return SUCCESS;
}

// The device

API Error cudaGetDeviceCount(int* count) {
    *count = 1;
    return SUCCESS;
}

API Error cudaGetDevice(int* number) {
    *number = 0;
    return SUCCESS;
}

static Error known(int number) { return number ? failed(INVALID_DEVICE) : SUCCESS; }

API Error cudaSetDevice(int number) { return known(number); }

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

API Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    *least = *greatest = 0;
    return SUCCESS;
}

API Error cudaDeviceCanAccessPeer(int* can, int, int) {
    *can = 0;
    return SUCCESS;
}

API Error cudaDeviceSynchronize() { return failed(fault); }
SAME(cudaDeviceReset)
SAME(cudaDeviceSetLimit, int, Size)
SAME(cudaDeviceSetCacheConfig, int)
SAME(cudaDeviceSetSharedMemConfig, int)
SAME(cudaSetDeviceFlags, unsigned)
SAME(cudaInitDevice, int, unsigned, unsigned)
SAME(cudaProfilerStart)
SAME(cudaProfilerStop)

API Error cudaPeekAtLastError() { return last; }

API Error cudaGetLastError() {
    const Error error = last;
    last = fault;
    return error;
}

static const std::map<int, std::pair<const char*, const char*>> ERRORS = {
    {0, {"cudaSuccess", "no error"}},
    {1, {"cudaErrorInvalidValue", "invalid argument"}},
    {2, {"cudaErrorMemoryAllocation", "out of memory"}},
    {9, {"cudaErrorInvalidConfiguration", "invalid configuration argument"}},
    {13, {"cudaErrorInvalidSymbol", "invalid device symbol"}},
    {21, {"cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"}},
    {98, {"cudaErrorInvalidDeviceFunction", "invalid device function"}},
    {101, {"cudaErrorInvalidDevice", "invalid device ordinal"}},
    {209, {"cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"}},
    {218, {"cudaErrorInvalidPtx", "a PTX JIT compilation failed"}},
    {400, {"cudaErrorInvalidResourceHandle", "invalid resource handle"}},
    {700, {"cudaErrorIllegalAddress", "an illegal memory access was encountered"}},
    {719, {"cudaErrorLaunchFailure", "unspecified launch failure"}},
    {801, {"cudaErrorNotSupported", "operation not supported"}},
};

API const char* cudaGetErrorName(int error) {
    return ERRORS.count(error) ? ERRORS.at(error).first : "unrecognized error code";
}

API const char* cudaGetErrorString(int error) {
    return ERRORS.count(error) ? ERRORS.at(error).second : "unrecognized error code";
}

#define ALIAS(other, name) API Error other() __attribute__((alias(#name)));
#define MISSING(name) API Error name() { return unsupported(#name); }
#include "others.h"                      // the other functions of the library, which library.py writes
