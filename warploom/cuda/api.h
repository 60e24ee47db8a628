// What the functions of the library have in common.
#pragma once
#include <map>

#include "client.h"

#define API extern "C" __attribute__((visibility("default")))
#define SAME(name, ...) API Error name(__VA_ARGS__) { return failed(fault); }  // nothing to do here

using Stream = struct Queue*;
using Size = std::size_t;

struct Extents { unsigned x, y, z; };
struct Symbol { u64 module; std::string name; Size size; };
struct Range { Size size; bool pinned; unsigned flags; };  // managed, if it is not pinned

static std::map<const void*, Symbol> functions, variables;
static std::map<u64, Range> both;        // memory of the host that kernels may use, by its address

static Error unsupported(const char* function) {
    std::fprintf(stderr, "warploom: warning: %s is not supported: it returns an error\n", function);
    return failed(NOT_SUPPORTED);
}

static Error zero(int* number) {
    *number = 0;
    return SUCCESS;
}
