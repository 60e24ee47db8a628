"""Where things are in the 64-bit generic address space.

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

GLOBALS_BASE = 0x0000_0000_1000_0000
"""Where the module's `.global` variables start."""

HEAP_BASE = 0x0000_7000_0000_0000
"""Where the launch's buffers start."""

BUFFER_ALIGNMENT = 256
"""Alignment of a buffer in bytes; at least one such unit of unmapped space follows it, so an overrun is caught."""
