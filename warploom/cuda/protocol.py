"""What the library and `Session` say to each other: requests, answers, and errors of CUDA. The library is compiled with
the same, which `header` writes."""

import struct
from enum import IntEnum

from warploom.arch.errors import DeviceAssertError, ExecutionError, IllegalAddressError, MisalignedAddressError
from warploom.arch.memory_map import HEAP_BASE

REQUEST, ANSWER = struct.Struct("<5Q"), struct.Struct("<3Q")
"""Number of the verb, three numbers and the bytes that follow; error, a number and the bytes that follow."""

HEAP_BITS = 40
SPACE = range(HEAP_BASE, HEAP_BASE + (1 << HEAP_BITS))
"""Addresses of the GPU's memory, by which the library distinguishes it from that of the host."""

Verb = IntEnum("Verb", "LOAD KERNEL LAUNCH ALLOCATE FREE WRITE READ COPY FILL SET GET ADDRESS TIME DEVICE OCCUPANCY "
               "UNUSED LIMIT_STACK", start=0)
"""What a request asks for: each is a method of `Session`."""


class Code(IntEnum):
    """Errors of CUDA (cudaError_t), with its names."""

    SUCCESS = 0
    INVALID_VALUE = 1
    MEMORY_ALLOCATION = 2
    INVALID_CONFIGURATION = 9
    INVALID_PITCH_VALUE = 12
    INVALID_SYMBOL = 13
    INVALID_MEMCPY_DIRECTION = 21
    INVALID_DEVICE_FUNCTION = 98
    INVALID_DEVICE = 101
    UNSUPPORTED_LIMIT = 215
    INVALID_RESOURCE_HANDLE = 400
    ILLEGAL_ADDRESS = 700
    ASSERT = 710
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILURE = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    NOT_SUPPORTED = 801


TEXTS = {
    Code.SUCCESS: "no error",
    Code.INVALID_VALUE: "invalid argument",
    Code.MEMORY_ALLOCATION: "out of memory",
    Code.INVALID_CONFIGURATION: "invalid configuration argument",
    Code.INVALID_PITCH_VALUE: "invalid pitch argument",
    Code.INVALID_SYMBOL: "invalid device symbol",
    Code.INVALID_MEMCPY_DIRECTION: "invalid copy direction for memcpy",
    Code.INVALID_DEVICE_FUNCTION: "invalid device function",
    Code.INVALID_DEVICE: "invalid device ordinal",
    Code.UNSUPPORTED_LIMIT: "limit is not supported on this architecture",
    Code.INVALID_RESOURCE_HANDLE: "invalid resource handle",
    Code.ILLEGAL_ADDRESS: "an illegal memory access was encountered",
    Code.ASSERT: "device-side assert triggered",
    Code.MISALIGNED_ADDRESS: "misaligned address",
    Code.LAUNCH_FAILURE: "unspecified launch failure",
    Code.COOPERATIVE_LAUNCH_TOO_LARGE: "too many blocks in cooperative launch",
    Code.NOT_SUPPORTED: "operation not supported",
}
"""What cudaGetErrorString says of them."""

FAULTS = {DeviceAssertError: Code.ASSERT, IllegalAddressError: Code.ILLEGAL_ADDRESS,
          MisalignedAddressError: Code.MISALIGNED_ADDRESS, ExecutionError: Code.LAUNCH_FAILURE}
"""Errors of a running kernel, after which everything fails."""


def header() -> str:
    """The same in C++."""
    verbs = ", ".join(f"{verb.name} = {verb}" for verb in Verb)
    codes = ", ".join(f"{code.name} = {code}" for code in Code)
    words = "\n".join(f'    {{{code}, {{"{_name(code)}", "{text}"}}}},' for code, text in TEXTS.items())
    return f"""\
// What protocol.py has.
#pragma once
#include <cstdint>
#include <map>

struct Words {{ const char *name, *text; }};

enum class Verb : std::uint64_t {{ {verbs} }};
enum Error : int {{ {codes} }};
inline const std::map<int, Words> ERRORS = {{
{words}
}};
constexpr Error FAULTS[] = {{ {", ".join(code.name for code in FAULTS.values())} }};
constexpr std::uint64_t HEAP = {SPACE.start >> HEAP_BITS}, HEAP_BITS = {HEAP_BITS};
"""


def _name(code: Code) -> str:
    """Its name in CUDA."""
    words = "".join(word.capitalize() for word in code.name.split("_"))
    return f"cuda{words if code is Code.SUCCESS else f'Error{words}'}"
