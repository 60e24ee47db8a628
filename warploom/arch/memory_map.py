"""The map of the 64-bit generic address space.

Windows have zero low words, so `cvta` only changes the high word. Global memory is everything outside the windows.
"""

SHARED_WINDOW = 0x0001_0000_0000_0000
"""Generic address of byte 0 of the block's shared memory."""

LOCAL_WINDOW = 0x0002_0000_0000_0000
"""Generic address of byte 0 of the thread's local memory."""

CONST_WINDOW = 0x0004_0000_0000_0000
"""Generic address of byte 0 of the module's constant memory."""

PARAM_WINDOW = 0x0008_0000_0000_0000
"""Generic address of byte 0 of the parameter bank."""

WINDOW_BYTES = 1 << 32

LOCAL_BYTES = 1 << 19
"""Local memory of a thread at most, as in CUDA."""

STACK_BYTES = 1 << 12
"""The part of it that is the stack of a kernel with recursive functions, unless it asks for more or less. CUDA gives
1,024 bytes, but a call may need more here than there."""

CONSOLE_PRINT = 0x0000_0000_0800_0000
"""A thread prints by storing to this (immediate) address the address of a record in its local memory: {format,
arguments: 64-bit generic addresses; result: 32 bits, which the console writes}."""

CONSOLE_ASSERT = CONSOLE_PRINT + 4
"""Where a thread stores that of a failed assertion, which ends the kernel: {text, file, function: 64-bit generic
addresses; line: 32 bits}."""

FUNCTIONS_BASE = 0x0000_0000_0400_0000
FUNCTION_BYTES = 16
"""The address of the first function, and the distance of the next one: there is no memory. C++ keeps the lowest bit of
a pointer to a member function for itself."""

GLOBALS_BASE = 0x0000_0000_1000_0000
"""Start of the module's `.global` variables, unless its PTX has another one (`warploom.compiler.images.PRAGMA`)."""

LOWEST_ARRAY = 0x0000_0000_8000_0000
"""The lowest address of a buffer: behind all `.global` variables."""

GRID_BARRIER = LOWEST_ARRAY - 0x100 + 4
"""The word by which cooperative groups synchronise a grid, in front of which is another one, of kernels that do so. Its
highest bit changes when the last block arrives."""

HEAP_BASE = 0x0000_7000_0000_0000
"""Start of the launch's buffers, unless they have other addresses."""

BUFFER_ALIGNMENT = 256
"""Alignment of a buffer in bytes. At least this many unmapped bytes follow it, so that an overrun is caught."""


def padded(size: int) -> int:
    """Bytes that a buffer of `size` bytes occupies: whole units of `BUFFER_ALIGNMENT`."""
    return -(-size // BUFFER_ALIGNMENT) * BUFFER_ALIGNMENT


def after(base: int, size: int) -> int:
    """The first address for a buffer after one of `size` bytes at `base`, with unmapped space between the two."""
    return base + padded(size) + BUFFER_ALIGNMENT
