"""Latencies of instructions, in the model and on the chip: chains of instructions of which each needs the result of the
one before (docs/silicon.md)."""

import json
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from warploom import silicon
from warploom.arch.gpu import GpuConfig
from warploom.host.gpu import Gpu
from warploom.host.module import Kernel
from warploom.silicon.latency import ARITHMETIC, FOOTPRINTS, LINE, LOAD_SHARED, load

UNROLLED = 64
"""Instructions in the body of a chain's loop, whose other instructions wait for none of them."""

STEPS = 4
"""Turns of the loop that are timed: those after as many others, which may have warmed the caches."""

LINES = {"l1": 32, "l2": UNROLLED * STEPS, "dram": 4 * UNROLLED * STEPS}
"""Lines of the model's ring: L1 holds those of the first, L2 those of the second, which are read once before they are
timed; those of the third are read once."""

KERNEL = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry chain(.param .u64 start, .param .u32 turns, .param .u64 out)
{{
    .reg .pred %p;
    .reg .u32 %turns;
    .reg .u64 %out;
    .reg .{type} %value;
    .shared .u32 next;
    mov.u32 %turns, next;
    st.shared.u32 [next], %turns;
    ld.param.{type} %value, [start];
    ld.param.u32 %turns, [turns];
    ld.param.u64 %out, [out];
again:
    {body}
    sub.u32 %turns, %turns, 1;
    setp.ne.u32 %p, %turns, 0;
    @%p bra again;
    st.global.{type} [%out], %value;
    ret;
}}
"""

TYPES = {"r": "u32", "l": "u64", "f": "f32", "d": "f64"}
"""Types of a register in PTX, by the letter of its constraint."""


@dataclass(frozen=True)
class Latency:
    """Cycles from an instruction to the next one, which needs its result: in the model and on the chip. For a load
    from global memory, `bytes` is the size of the chip's ring."""

    what: str
    bytes: int | None
    cycles: float
    chip_cycles: float


COLUMNS = tuple(field.name for field in fields(Latency))


def latencies(config: GpuConfig) -> list[Latency]:
    """Of every instruction that was timed on the chip."""
    chip = json.loads((Path(silicon.__file__).parent / "h200_latency.json").read_text())["latencies"]
    with tempfile.TemporaryDirectory() as folder:
        chains = Chains(config, Path(folder))
        ours = {name: chains.cycles(kind, text) for name, kind, text in ARITHMETIC}
        ours["shared"] = chains.cycles("r", LOAD_SHARED, 0)
        ours |= {what: chains.cycles("l", load(operator), chains.ring(LINES[what]))
                 for what, operator in {(what, operator) for what, operator, _ in FOOTPRINTS}}
    return [Latency(each["what"], each.get("bytes"), ours[each["what"]], each["cycles"]) for each in chip]


class Chains:
    """Timed chains on a GPU of the model."""

    def __init__(self, config: GpuConfig, folder: Path) -> None:
        self.gpu, self.path = Gpu(gpu=config), folder / "chain.ptx"

    def cycles(self, kind: str, instruction: str, start: Any = 1) -> float:
        """Of an instruction on this kind of register: the longer run less the shorter one."""
        body = "\n    ".join([instruction.replace("%0", "%value")] * UNROLLED)
        self.path.write_text(KERNEL.format(type=TYPES[kind], body=body))
        chain = self.gpu.module(self.path)["chain"]
        short, long = (self._run(chain, start, turns) for turns in (STEPS, 2 * STEPS))
        return round((long - short) / (STEPS * UNROLLED), 1)

    def _run(self, chain: Kernel, start: Any, turns: int) -> int:
        return chain[1, 1](start, turns, self.gpu.zeros(1, np.uint64)).statistics.cycles

    def ring(self, lines: int) -> Any:
        """Words, one in each line, each the address of another in random order."""
        order = np.random.default_rng(1).permutation(lines)
        words = self.gpu.zeros((lines, LINE // 8), np.uint64)
        content = words.numpy().copy()
        content[order, 0] = words.address + np.roll(order, -1).astype(np.uint64) * LINE
        words.replace(content)
        return words
