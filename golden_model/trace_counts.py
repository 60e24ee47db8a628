"""`TraceCounts`: what the statistics of a run tell about its trace alone."""

import numpy as np

from warploom.arch.isa import RZ, Pipe
from warploom.golden_model.trace import Trace
from warploom.golden_model.widths import WIDTHS, histograms

REGISTERS = 4
"""Numbers of distinct registers that an instruction may read, 0 to 3."""


class TraceCounts:
    """Sums over the parts of a trace; the members are fields of `Statistics`. `operands` are the instructions that
    enter the datapath, by the number of distinct registers that they read; widths count warp operands, 1 to 4 bytes."""

    def __init__(self) -> None:
        self.warp_instructions = self.thread_instructions = 0
        self.operands = [0] * REGISTERS
        self.source_widths, self.destination_widths = [0] * WIDTHS, [0] * WIDTHS

    def add(self, part: Trace) -> None:
        """Add a part."""
        self.warp_instructions += part.warp_instructions
        self.thread_instructions += part.thread_instructions
        sources, destinations = histograms(part)
        self.operands = _sum(self.operands, operand_histogram(part))
        self.source_widths = _sum(self.source_widths, sources)
        self.destination_widths = _sum(self.destination_widths, destinations)


def _sum(these: list[int], those: list[int]) -> list[int]:
    return [one + other for one, other in zip(these, those, strict=True)]


def operand_histogram(trace: Trace) -> list[int]:
    """Instructions that enter the datapath, by the number of distinct registers that they read."""
    instructions = trace.program.instructions
    count = np.array([-1 if i.pipe is Pipe.CONTROL and i.dst == RZ else len(i.sources) for i in instructions])
    read = np.concatenate([count[warp.pc[warp.lanes != 0]] for warp in trace.warps])
    return np.bincount(read[read >= 0], minlength=REGISTERS).tolist()
