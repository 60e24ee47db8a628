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
enum class Kind { MANAGED, PINNED, VARIABLE };   // a variable is managed, too
struct Range { Size size; Kind kind; unsigned flags; };

static std::map<const void*, Symbol> functions, variables;
static std::map<u64, Range> both;        // memory of the host that kernels may use, by its address
static std::map<u64, u64> regions;       // of variables of modules: start and end

static Error unsupported(const char* function) {
    std::fprintf(stderr, "warploom: warning: %s is not supported: it returns an error\n", function);
    return failed(NOT_SUPPORTED);
}

static Error zero(int* number) {
    *number = 0;
    return SUCCESS;
}
