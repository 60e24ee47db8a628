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
#include "errors.h"

#define API extern "C" __attribute__((visibility("default")))
#define SAME(name, ...) API Error name(__VA_ARGS__) { return failed(fault); }  // nothing to do here

using Stream = struct Queue*;
using Size = std::size_t;

struct Extents { unsigned x, y, z; };
struct Symbol { u64 module; std::string name; Size size; };
struct Kernel { u64 number, shared, registers, threads, ptx; std::vector<u64> parameters; };  // bytes of each parameter
struct Call { Extents grid, block; Size shared; Stream stream; };
struct Config { Extents grid, block; Size shared; Stream stream; const void* attributes; unsigned count; };
struct Queue { unsigned flags; };
struct Event { bool timed, recorded; u64 cycles; };
struct Range { Size size; bool pinned; unsigned flags; };  // managed, if it is not pinned
struct Pitched { char* pointer; Size pitch, width, height; };
struct Box { Size width, height, depth; };

constexpr u64 HEAP = 0x70;               // the first two digits of 48-bit addresses in the GPU's memory (session.py)
constexpr Size PAGE = 4096;

static std::map<const void*, Symbol> functions, variables;
static std::map<const void*, Kernel> kernels;
static std::map<u64, Range> both;        // memory of the host that kernels may use, by its address
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
        kernels[function] = {answer.value, numbers[0], numbers[1], numbers[2], numbers[3],
                             {numbers.begin() + 4, numbers.end()}};
    }
    kernel = &kernels[function];
    return SUCCESS;
}

// What a kernel has changed in memory of the host: the rest may be what another thread of the host has written since.
static void fetch(u64 address, const std::string& before) {
    const Answer now = ask(Verb::READ, address, before.size());
    for (Size i = 0; i < now.data.size(); ++i)
        if (now.data[i] != before[i]) reinterpret_cast<char*>(address)[i] = now.data[i];
}

API Error cudaLaunchKernel(const void* function, Extents grid, Extents block, void** arguments, Size shared, Stream) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    const Kernel* kernel;
    if (const Error error = find(function, kernel)) return error;
    const u64 shape[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z, shared};
    std::string data(reinterpret_cast<const char*>(shape), sizeof shape);
    for (Size i = 0; i < kernel->parameters.size(); ++i)
        data.append(static_cast<const char*>(arguments[i]), kernel->parameters[i]);
    std::map<u64, std::string> sent;
    for (const auto& [address, range] : both) {
        sent[address].assign(reinterpret_cast<const char*>(address), range.size);
        ask(Verb::WRITE, address, 0, 0, sent[address]);
    }
    const Answer answer = ask(Verb::LAUNCH, kernel->number, 0, 0, data);
    std::fwrite(answer.data.data(), 1, answer.data.size(), stdout);       // what it has printed
    for (const auto& [address, before] : sent) fetch(address, before);
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
    attributes->threads = kernel->threads;
    attributes->registers = kernel->registers;
    attributes->ptx = attributes->binary = kernel->ptx;
    attributes->dynamic_shared = device().shared - kernel->shared;
    return SUCCESS;
}

API Error cudaFuncSetAttribute(const void* function, int which, int value) {
    const Kernel* kernel;
    if (const Error error = find(function, kernel)) return error;
    const bool shared = which == 8;      // cudaFuncAttributeMaxDynamicSharedMemorySize
    return shared && (value < 0 || kernel->shared + value > device().shared) ? failed(INVALID_VALUE) : SUCCESS;
}

API Error cudaFuncGetName(const char** name, const void* function) {
    const auto symbol = functions.find(function);
    if (symbol == functions.end()) return failed(INVALID_FUNCTION);
    *name = symbol->second.name.c_str();
    return SUCCESS;
}

SAME(cudaFuncSetCacheConfig, const void*, int)
SAME(cudaFuncSetSharedMemConfig, const void*, int)

API Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                 Size shared, unsigned) {
    const Kernel* kernel;
    if (threads < 1) return failed(INVALID_VALUE);
    if (const Error error = find(function, kernel)) return error;
    const Answer answer = ask(Verb::OCCUPANCY, kernel->number, threads, shared);
    *blocks = answer.value;
    return answer.error;
}

API Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads, Size shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

API Error cudaOccupancyAvailableDynamicSMemPerBlock(Size* size, const void* function, int blocks, int threads) {
    int most;
    if (const Error error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, function, threads, 0)) return error;
    if (blocks < 1 || blocks > most) return failed(INVALID_VALUE);
    *size = device().shared / blocks - kernels[function].shared;
    return SUCCESS;
}

// Memory

enum class Place { HOST, GPU, BOTH };

static Place place(const void* pointer, Range* found = nullptr) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    const u64 address = reinterpret_cast<u64>(pointer);
    if (address >> 40 != HEAP) return Place::HOST;
    const auto next = both.upper_bound(address);
    if (next == both.begin() || address - std::prev(next)->first >= std::prev(next)->second.size) return Place::GPU;
    if (found) *found = std::prev(next)->second;
    return Place::BOTH;
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

API Error cudaMalloc3D(Pitched* made, Box box) {
    *made = {nullptr, 0, box.width, box.height};
    return cudaMallocPitch(reinterpret_cast<void**>(&made->pointer), &made->pitch, box.width, box.height * box.depth);
}

static Error allocate_both(void** pointer, Size size, bool pinned, unsigned flags) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    const Size whole = (size + PAGE - 1) / PAGE * PAGE + !size * PAGE;
    const Answer answer = ask(Verb::ALLOCATE, whole, PAGE);
    if (answer.error) return answer.error;
    *pointer = reinterpret_cast<void*>(answer.value);
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap(*pointer, whole, PROT_READ | PROT_WRITE, how, -1, 0) != *pointer) return failed(MEMORY_ALLOCATION);
    both[answer.value] = {whole, pinned, flags};
    return SUCCESS;
}

API Error cudaMallocManaged(void** pointer, Size size, unsigned flags) {
    return size ? allocate_both(pointer, size, false, flags) : failed(INVALID_VALUE);
}

API Error cudaHostAlloc(void** pointer, Size size, unsigned flags) {
    return allocate_both(pointer, size, true, flags);
}

API Error cudaMallocHost(void** pointer, Size size, unsigned flags) { return cudaHostAlloc(pointer, size, flags); }
SAME(cudaHostRegister, void*, Size, unsigned)
SAME(cudaHostUnregister, void*)

API Error cudaHostGetDevicePointer(void** pointer, void* host, unsigned) {
    *pointer = host;
    return place(host) == Place::BOTH ? SUCCESS : failed(INVALID_VALUE);
}

API Error cudaHostGetFlags(unsigned* flags, void* host) {
    Range range{};
    if (place(host, &range) != Place::BOTH || !range.pinned) return failed(INVALID_VALUE);
    *flags = range.flags;
    return SUCCESS;
}

static Error release(void* pointer, bool pinned) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    if (!pointer) return failed(fault);
    const auto range = both.find(reinterpret_cast<u64>(pointer));
    if (pinned != (range != both.end() && range->second.pinned)) return failed(INVALID_VALUE);
    if (range != both.end()) {
        munmap(pointer, range->second.size);
        both.erase(range);
    }
    return ask(Verb::FREE, reinterpret_cast<u64>(pointer)).error;
}

API Error cudaFree(void* pointer) { return release(pointer, false); }
API Error cudaFreeHost(void* pointer) { return release(pointer, true); }
API Error cudaFreeAsync(void* pointer, Stream) { return cudaFree(pointer); }

API Error cudaMemcpy(void* to, const void* from, Size size, int kind) {
    if (kind < 0 || kind > 4) return failed(INVALID_COPY);
    if (!size) return failed(fault);
    const Place there = place(to), here = place(from);
    const bool wrong = there == (kind & 1 ? Place::HOST : Place::GPU) || here == (kind & 2 ? Place::HOST : Place::GPU);
    if (!to || !from || (wrong && kind != 4)) return failed(INVALID_VALUE);
    const u64 target = reinterpret_cast<u64>(to), source = reinterpret_cast<u64>(from);
    const bool writes = there == Place::GPU, reads = here == Place::GPU;
    if (writes && reads) return ask(Verb::COPY, target, source, size).error;
    if (writes) return ask(Verb::WRITE, target, 0, 0, from, size).error;
    if (!reads) return std::memmove(to, from, size), failed(fault);
    const Answer answer = ask(Verb::READ, source, size);
    std::memcpy(to, answer.data.data(), answer.data.size());
    return answer.error;
}

API Error cudaMemcpyAsync(void* to, const void* from, Size size, int kind, Stream) {
    return cudaMemcpy(to, from, size, kind);
}

API Error cudaMemcpy2D(void* to, Size pitch, const void* from, Size from_pitch, Size width, Size height, int kind) {
    if (width > pitch || width > from_pitch) return failed(INVALID_PITCH);
    if (!width || !height) return failed(fault);
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

struct Copy3D {                          // cudaMemcpy3DParms
    void* from_array;
    Size from_at[3];
    Pitched from;
    void* to_array;
    Size to_at[3];
    Pitched to;
    Box box;
    int kind;
};

static char* row(const Pitched& in, const Size at[3], Size layer) {
    return in.pointer + ((at[2] + layer) * in.height + at[1]) * in.pitch + at[0];
}

API Error cudaMemcpy3D(const Copy3D* copy) {
    if (copy->from_array || copy->to_array) return unsupported("cudaMemcpy3D with an array");
    for (Size layer = 0; layer < copy->box.depth; ++layer)
        if (const Error error = cudaMemcpy2D(
                row(copy->to, copy->to_at, layer), copy->to.pitch, row(copy->from, copy->from_at, layer),
                copy->from.pitch, copy->box.width, copy->box.height, copy->kind))
            return error;
    return failed(fault);
}

API Error cudaMemcpy3DAsync(const Copy3D* copy, Stream) { return cudaMemcpy3D(copy); }

API Error cudaMemset(void* at, int value, Size size) {
    if (!size) return failed(fault);
    if (place(at) == Place::HOST) return failed(INVALID_VALUE);
    if (place(at) == Place::GPU) return ask(Verb::FILL, reinterpret_cast<u64>(at), value & 0xFF, size).error;
    return std::memset(at, value, size), failed(fault);
}

API Error cudaMemsetAsync(void* at, int value, Size size, Stream) { return cudaMemset(at, value, size); }

API Error cudaMemset2D(void* at, Size pitch, int value, Size width, Size height) {
    if (!width || !height) return failed(fault);
    if (place(at) == Place::HOST) return failed(INVALID_VALUE);
    const std::string values(width * height, static_cast<char>(value));
    return cudaMemcpy2D(at, pitch, values.data(), width, width, height, 4);
}

API Error cudaMemset2DAsync(void* at, Size pitch, int value, Size width, Size height, Stream) {
    return cudaMemset2D(at, pitch, value, width, height);
}

API Error cudaMemset3D(Pitched at, int value, Box box) {
    const Size start[3] = {};
    for (Size layer = 0; layer < box.depth; ++layer)
        if (const Error error = cudaMemset2D(row(at, start, layer), at.pitch, value, box.width, box.height))
            return error;
    return failed(fault);
}

API Error cudaMemset3DAsync(Pitched at, int value, Box box, Stream) { return cudaMemset3D(at, value, box); }

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
    const Answer answer = ask(Verb::UNUSED);
    *unused = answer.value;
    *all = device().memory;
    return answer.error;
}

struct Pointer { int type, device; void *on_device, *on_host; };  // the start of cudaPointerAttributes

API Error cudaPointerGetAttributes(Pointer* attributes, const void* pointer) {
    void* const same = const_cast<void*>(pointer);
    Range range{};
    const Place where = place(pointer, &range);
    if (where == Place::HOST) *attributes = {0, -2, nullptr, same};
    else if (where == Place::GPU) *attributes = {2, 0, same, nullptr};
    else *attributes = {range.pinned ? 1 : 3, 0, same, same};
    return SUCCESS;
}

SAME(cudaMemAdvise, const void*)
SAME(cudaMemPrefetchAsync, const void*)
SAME(cudaStreamAttachMemAsync, Stream)

// Streams and events: every call has ended when it returns

static bool is_default(Stream stream) { return reinterpret_cast<u64>(stream) <= 2; }  // none, or of a thread

API Error cudaStreamCreateWithFlags(Stream* stream, unsigned flags) {
    *stream = new Queue{flags};
    return failed(fault);
}

API Error cudaStreamCreate(Stream* stream) { return cudaStreamCreateWithFlags(stream, 0); }

API Error cudaStreamCreateWithPriority(Stream* stream, unsigned flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}

API Error cudaStreamGetFlags(Stream stream, unsigned* flags) {
    *flags = is_default(stream) ? 0 : stream->flags;
    return SUCCESS;
}

API Error cudaStreamGetPriority(Stream, int* priority) {
    *priority = 0;
    return SUCCESS;
}

API Error cudaStreamDestroy(Stream stream) {
    if (is_default(stream)) return failed(INVALID_HANDLE);
    delete stream;
    return failed(fault);
}

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

static Error zero(int* status) {
    *status = 0;
    return SUCCESS;
}

API Error cudaStreamIsCapturing(Stream, int* status) { return zero(status); }
API Error cudaStreamGetCaptureInfo(Stream, int* status) { return zero(status); }
API Error cudaStreamGetCaptureInfo_v2(Stream, int* status) { return zero(status); }
API Error cudaStreamGetCaptureInfo_v3(Stream, int* status) { return zero(status); }
API Error cudaThreadExchangeStreamCaptureMode(int* mode) { return zero(mode); }

API Error cudaEventCreateWithFlags(Event** event, unsigned flags) {
    *event = new Event{!(flags & 2), false, 0};              // cudaEventDisableTiming
    return failed(fault);
}

API Error cudaEventCreate(Event** event) { return cudaEventCreateWithFlags(event, 0); }

API Error cudaEventRecord(Event* event, Stream) {
    if (!event) return failed(INVALID_HANDLE);
    const Answer answer = ask(Verb::CYCLES);
    *event = {event->timed, true, answer.value};
    return answer.error;
}

API Error cudaEventRecordWithFlags(Event* event, Stream stream, unsigned) { return cudaEventRecord(event, stream); }
API Error cudaEventQuery(const Event* event) { return failed(event ? fault.load() : INVALID_HANDLE); }
API Error cudaEventSynchronize(const Event* event) { return cudaEventQuery(event); }

API Error cudaEventElapsedTime(float* milliseconds, const Event* start, const Event* end) {
    for (const Event* event : {start, end})
        if (!event || !event->timed || !event->recorded) return failed(INVALID_HANDLE);
    *milliseconds = static_cast<float>(static_cast<std::int64_t>(end->cycles - start->cycles)) / CLOCK;
    return failed(fault);
}

API Error cudaEventDestroy(Event* event) {
    if (!event) return failed(INVALID_HANDLE);
    delete event;
    return failed(fault);
}

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
    limits[which] = size;                // for the program to read: nothing has one here
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
