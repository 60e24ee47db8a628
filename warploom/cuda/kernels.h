// Kernels, launches, occupancy.
#pragma once
#include <vector>

#include "api.h"
#include "device.h"

struct Kernel { u64 number, shared, registers, threads, ptx; std::vector<u64> parameters; };  // bytes of each parameter
struct Call { Extents grid, block; Size shared; Stream stream; };
struct Attribute { int which, unused; union { int number; char others[64]; } value; };    // cudaLaunchAttribute
struct Config { Extents grid, block; Size shared; Stream stream; const Attribute* attributes; unsigned count; };

static std::map<const void*, Kernel> kernels;
static thread_local std::vector<Call> calls;

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

API void __cudaRegisterFunction(void** module, const void* function, char*, const char* name, int, void*, void*, void*,
                                void*, int*) {
    functions[function] = {reinterpret_cast<u64>(module), name, 0};
}

static Error find(const void* function, const Kernel*& kernel) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    if (!kernels.count(function)) {
        const auto symbol = functions.find(function);
        if (symbol == functions.end()) return failed(INVALID_DEVICE_FUNCTION);
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

static Error launch(const void* function, Extents grid, Extents block, void** arguments, Size shared,
                    bool cooperative) {
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
    const Answer answer = ask(Verb::LAUNCH, kernel->number, cooperative, 0, data);
    std::fwrite(answer.data.data(), 1, answer.data.size(), stdout);       // what it has printed
    for (const auto& [address, before] : sent) fetch(address, before);
    return answer.error;
}

API Error cudaLaunchKernel(const void* function, Extents grid, Extents block, void** arguments, Size shared, Stream) {
    return launch(function, grid, block, arguments, shared, false);
}

API Error cudaLaunchCooperativeKernel(const void* function, Extents grid, Extents block, void** arguments, Size shared,
                                      Stream) {
    return launch(function, grid, block, arguments, shared, true);
}

API Error cudaLaunchKernelExC(const Config* config, const void* function, void** arguments) {
    bool cooperative = false;
    for (unsigned i = 0; i < config->count; ++i)
        if (config->attributes[i].which == 2) cooperative = config->attributes[i].value.number;
    return launch(function, config->grid, config->block, arguments, config->shared, cooperative);
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
    if (symbol == functions.end()) return failed(INVALID_DEVICE_FUNCTION);
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
    const Kernel* kernel;
    int most;
    if (const Error error = find(function, kernel)) return error;
    if (const Error error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, function, threads, 0)) return error;
    if (blocks < 1 || blocks > most) return failed(INVALID_VALUE);
    *size = device().shared / blocks - kernel->shared;
    return SUCCESS;
}
