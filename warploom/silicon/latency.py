"""Measures latencies of the NVIDIA GPU of this computer: ``python -m warploom.silicon.latency FILE.json``. One thread
executes instructions of which each needs the result of the one before, and reads its SM's clock before and after.
Needs CuPy beside Warploom."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from warploom.arch.errors import WarploomError
from warploom.files import write_whole
from warploom.silicon.device import Silicon

LINE = 128
"""Bytes between the words of a chain: each is in a line of its own."""

STEPS = 8192
"""Instructions that are timed together. The loop around the loads, and the clock, add well under a cycle to each."""

FOOTPRINTS = (("l1", "ca", 16 << 10), ("l2", "cg", 1 << 20), ("l2", "cg", 16 << 20), ("dram", "cg", 128 << 20),
              ("dram", "cg", 1 << 30))
"""Where the data are, the cache operator of the loads, and the bytes of the chain. Loads with `cg` pass by L1."""

EVICTED = 512 << 20
"""Bytes that are written before a chain in DRAM, so that no L2 cache keeps a part of it."""

REGISTERS = {"r": ("unsigned", "uint32"), "l": ("unsigned long long", "uint64"), "f": ("float", "float32"),
             "d": ("double", "float64")}
"""Types of a register, in CUDA C and in numpy, by the letter of PTX's constraints."""

ARITHMETIC = (
    ("int_add", "r", "add.u32 %0, %0, %0;"), ("int_mul", "r", "mul.lo.u32 %0, %0, %0;"),
    ("int_mad", "r", "mad.lo.u32 %0, %0, %0, %0;"), ("fp_add", "f", "add.rn.f32 %0, %0, %0;"),
    ("fp_mul", "f", "mul.rn.f32 %0, %0, %0;"), ("fp_mad", "f", "fma.rn.f32 %0, %0, %0, %0;"),
    ("sfu", "f", "ex2.approx.ftz.f32 %0, %0;"), ("dp_mad", "d", "fma.rn.f64 %0, %0, %0, %0;"))
"""An instruction of each class whose latency the model has: the class, the kind of its register, PTX."""

KERNEL = """
extern "C" __global__ void chain({type} value, long long *out) {{
    {prologue}
    long long start = clock64();
    #pragma unroll 64
    for (int step = 0; step < {steps}; step++) asm volatile("{instruction}" : "+{kind}"(value) :: "memory");
    out[0] = clock64() - start;
    *({type} *)(out + 1) = value;
}}
"""

LOAD_SHARED = "ld.shared.u32 %0, [%0];"
IN_SHARED_MEMORY = "extern __shared__ unsigned next[]; next[0] = value;"


def load(operator: str) -> str:
    """A load from global memory with this cache operator."""
    return f"ld.global.{operator}.u64 %0, [%0];"


class Chains:
    """Timed chains of dependent instructions."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy

    def arithmetic(self) -> Iterator[dict[str, Any]]:
        """Cycles of an instruction of each class."""
        for name, kind, instruction in ARITHMETIC:
            yield {"what": name, "cycles": self._cycles(kind, instruction, 1)}

    def loads(self) -> Iterator[dict[str, Any]]:
        """Cycles of a load, by where the data are."""
        yield {"what": "shared", "cycles": self._cycles("r", LOAD_SHARED, 0, IN_SHARED_MEMORY)}
        for what, operator, size in FOOTPRINTS:
            words = self._chain(size)
            if what == "dram":
                self.cupy.ones(EVICTED, "uint8")
            cycles = self._cycles("l", load(operator), words.data.ptr, warm=what != "dram")
            yield {"what": what, "bytes": size, "cycles": cycles}

    def _cycles(self, kind: str, instruction: str, value: int, prologue: str = "", *, warm: bool = True) -> float:
        """Of one instruction of a chain that begins with a value; to warm the caches, it runs once before."""
        in_c, in_numpy = REGISTERS[kind]
        text = KERNEL.format(type=in_c, kind=kind, steps=STEPS, instruction=instruction, prologue=prologue)
        chain = self.cupy.RawModule(code=text).get_function("chain")
        out = self.cupy.zeros(2, "int64")
        for _ in range(1 + warm):
            chain((1,), (1,), (np.dtype(in_numpy).type(value), out), shared_mem=4)
        return round(int(out[0]) / STEPS, 1)

    def _chain(self, size: int) -> Any:
        """Words in memory, one in each line, each the address of another in random order: one ring. The kernel's
        STEPS loads go once or more often around a small one."""
        lines = size // LINE
        order = self.cupy.random.RandomState(1).permutation(lines)
        words = self.cupy.zeros(size // 8, "uint64")
        words[order * (LINE // 8)] = words.data.ptr + self.cupy.roll(order, -1).astype("uint64") * LINE
        return words


def main() -> int:
    """Returns the exit status: 1 if there is no GPU."""
    parser = argparse.ArgumentParser(prog="python -m warploom.silicon.latency", description=__doc__)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    try:
        silicon = Silicon()
    except WarploomError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    chains = Chains(silicon.cupy)
    found = {**silicon.about(), "latencies": [*chains.arithmetic(), *chains.loads()]}
    write_whole(options.file, f"{json.dumps(found, indent=1)}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
