// Variables of modules: copies by name, addresses, and __managed__ ones, which the host uses in place.
#pragma once
#include <vector>

#include "api.h"
#include "memory.h"

struct Managed { Symbol symbol; void** address; };   // where code of nvcc reads its address

static std::map<void**, std::vector<Managed>> managed;   // by module, until the host uses one of them

API void __cudaRegisterVar(void** module, const void* variable, char*, const char* name, int, Size size, int, int) {
    variables[variable] = {reinterpret_cast<u64>(module), name, size};
}

API void __cudaRegisterManagedVar(void** module, void** address, char*, const char* name, int, Size size, int, int) {
    managed[module].push_back({{reinterpret_cast<u64>(module), name, size}, address});
}

static Error find(const void* symbol, Size size, Size offset, const Symbol*& found) {
    const auto known = variables.find(symbol);
    if (known == variables.end()) return failed(INVALID_SYMBOL);
    found = &known->second;
    return size > found->size || offset > found->size - size ? failed(INVALID_VALUE) : SUCCESS;
}

// The address of a variable, where from now on the host has no memory of its own; 0 after an error.
static u64 address_of(const Symbol& symbol, Error& error) {
    const Answer answer = ask(Verb::ADDRESS, symbol.module, 0, 0, symbol.name);
    error = answer.error;
    if (error) return 0;
    u64 region[2];
    std::memcpy(region, answer.data.data(), sizeof region);
    if (answer.value >> CONSTANT_BITS || regions.count(region[0])) return answer.value;
    if (!map(region[0], region[1] - region[0], PROT_NONE)) {
        std::fprintf(stderr, "warploom: warning: the program has memory of its own at %#llx, where variables of its "
                     "kernels are: link it with -pie\n", static_cast<unsigned long long>(region[0]));
        error = failed(NOT_SUPPORTED);
        return 0;
    }
    regions[region[0]] = region[1];
    return answer.value;
}

// Code of nvcc calls it before the host uses a __managed__ variable.
API char __cudaInitModule(void** module) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    for (const auto& [symbol, pointer] : managed[module]) {
        Error error;
        const u64 address = address_of(symbol, error);
        if (error) lost((symbol.name + ": a __managed__ variable without memory").c_str());
        const u64 start = address / PAGE * PAGE;
        mprotect(reinterpret_cast<void*>(start), address + symbol.size - start, PROT_READ | PROT_WRITE);
        const Answer contents = ask(Verb::READ, address, symbol.size);
        *pointer = reinterpret_cast<void*>(address);
        std::memcpy(*pointer, contents.data.data(), contents.data.size());
        both[address] = {symbol.size, Kind::VARIABLE, 0};
        variables[*pointer] = symbol;
    }
    managed.erase(module);
    return 1;
}

API Error cudaGetSymbolAddress(void** pointer, const void* symbol) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    const Symbol* found;
    if (const Error error = find(symbol, 0, 0, found)) return error;
    Error error;
    const u64 address = address_of(*found, error);
    if (!error) *pointer = reinterpret_cast<void*>(address);
    return error;
}

API Error cudaGetSymbolSize(Size* size, const void* symbol) {
    const Symbol* found;
    const Error error = find(symbol, 0, 0, found);
    if (!error) *size = found->size;
    return error;
}

API Error cudaMemcpyToSymbol(const void* symbol, const void* from, Size size, Size offset, int kind) {
    const Symbol* to;
    if (kind != 1 && kind != 3 && kind != 4) return failed(INVALID_MEMCPY_DIRECTION);
    if (const Error error = find(symbol, size, offset, to)) return error;
    char* const at = static_cast<char*>(const_cast<void*>(symbol)) + offset;
    if (place(symbol) == Place::BOTH) return cudaMemcpy(at, from, size, kind);
    std::string data(size, '\0');
    if (const Error error = cudaMemcpy(data.data(), from, size, kind & 4 ? 4 : kind & 2)) return error;
    return ask(Verb::SET, to->module, offset, 0, to->name + '\0' + data).error;
}

API Error cudaMemcpyFromSymbol(void* to, const void* symbol, Size size, Size offset, int kind) {
    const Symbol* from;
    if (kind != 2 && kind != 3 && kind != 4) return failed(INVALID_MEMCPY_DIRECTION);
    if (const Error error = find(symbol, size, offset, from)) return error;
    if (place(symbol) == Place::BOTH) return cudaMemcpy(to, static_cast<const char*>(symbol) + offset, size, kind);
    const Answer answer = ask(Verb::GET, from->module, offset, size, from->name);
    return answer.error ? answer.error : cudaMemcpy(to, answer.data.data(), size, kind & 4 ? 4 : kind & 1);
}

API Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, Size size, Size offset, int kind, Stream) {
    return cudaMemcpyToSymbol(symbol, from, size, offset, kind);
}

API Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, Size size, Size offset, int kind, Stream) {
    return cudaMemcpyFromSymbol(to, symbol, size, offset, kind);
}
