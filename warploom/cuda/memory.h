// Memory of the GPU, and of the host, which kernels may use, if it is managed or pinned. That has the same address on
// both sides. It is sent before each launch, and what the kernel has changed is fetched after it.
#pragma once
#include <sys/mman.h>

#include <iterator>

#include "api.h"
#include "device.h"

struct Pitched { char* pointer; Size pitch, width, height; };
struct Box { Size width, height, depth; };

constexpr Size PAGE = 4096;
constexpr int CONSTANT_BITS = 48;        // addresses of constants have more bits than those of the host

enum class Place { HOST, GPU, BOTH };

static Place place(const void* pointer, Range* found = nullptr) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    const u64 address = reinterpret_cast<u64>(pointer);
    const auto next = both.upper_bound(address);
    if (next != both.begin() && address - std::prev(next)->first < std::prev(next)->second.size) {
        if (found) *found = std::prev(next)->second;
        return Place::BOTH;
    }
    const auto region = regions.upper_bound(address);
    const bool variable = region != regions.begin() && address < std::prev(region)->second;
    return variable || address >> HEAP_BITS == HEAP || address >> CONSTANT_BITS ? Place::GPU : Place::HOST;
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

// Takes addresses of the host where it has no memory yet.
static bool map(u64 address, Size size, int access) {
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    void* const at = reinterpret_cast<void*>(address);
    return mmap(at, size, access, how, -1, 0) == at;
}

static Error allocate_both(void** pointer, Size size, Kind kind, unsigned flags) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    const Size whole = (size + PAGE - 1) / PAGE * PAGE + !size * PAGE;
    const Answer answer = ask(Verb::ALLOCATE, whole, PAGE);
    if (answer.error) return answer.error;
    *pointer = reinterpret_cast<void*>(answer.value);
    if (!map(answer.value, whole, PROT_READ | PROT_WRITE)) {
        ask(Verb::FREE, answer.value);
        return failed(MEMORY_ALLOCATION);
    }
    both[answer.value] = {whole, kind, flags};
    return SUCCESS;
}

API Error cudaMallocManaged(void** pointer, Size size, unsigned flags) {
    return size ? allocate_both(pointer, size, Kind::MANAGED, flags) : failed(INVALID_VALUE);
}

API Error cudaHostAlloc(void** pointer, Size size, unsigned flags) {
    return allocate_both(pointer, size, Kind::PINNED, flags);
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
    if (place(host, &range) != Place::BOTH || range.kind != Kind::PINNED) return failed(INVALID_VALUE);
    *flags = range.flags;
    return SUCCESS;
}

static Error release(void* pointer, Kind kind) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    if (!pointer) return failed(fault);
    const auto range = both.find(reinterpret_cast<u64>(pointer));
    const bool known = range != both.end();
    if (known ? range->second.kind != kind : kind == Kind::PINNED) return failed(INVALID_VALUE);
    if (known) {
        munmap(pointer, range->second.size);
        both.erase(range);
    }
    return ask(Verb::FREE, reinterpret_cast<u64>(pointer)).error;
}

API Error cudaFree(void* pointer) { return release(pointer, Kind::MANAGED); }
API Error cudaFreeHost(void* pointer) { return release(pointer, Kind::PINNED); }
API Error cudaFreeAsync(void* pointer, Stream) { return cudaFree(pointer); }

API Error cudaMemcpy(void* to, const void* from, Size size, int kind) {
    if (kind < 0 || kind > 4) return failed(INVALID_MEMCPY_DIRECTION);
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
    if (kind < 0 || kind > 4) return failed(INVALID_MEMCPY_DIRECTION);
    if (width > pitch || width > from_pitch) return failed(INVALID_PITCH_VALUE);
    if (!width || !height) return failed(fault);
    std::string source((height - 1) * from_pitch + width, '\0');
    if (const Error error = cudaMemcpy(source.data(), from, source.size(), kind & 4 ? 4 : kind & 2)) return error;
    if (place(to) != Place::GPU) {       // another thread of the host may write between the rows
        for (Size row = 0; row < height; ++row)
            if (const Error error = cudaMemcpy(static_cast<char*>(to) + row * pitch, &source[row * from_pitch], width,
                                               kind & 4 ? 4 : kind & 1))
                return error;
        return failed(fault);
    }
    std::string target((height - 1) * pitch + width, '\0');
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
    else *attributes = {range.kind == Kind::PINNED ? 1 : 3, 0, same, same};
    return SUCCESS;
}

SAME(cudaMemAdvise, const void*)
SAME(cudaMemPrefetchAsync, const void*)
SAME(cudaStreamAttachMemAsync, Stream)
