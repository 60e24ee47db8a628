"""`Execution`: what lanes and memory unit do with the operations that issue."""

from collections import Counter, deque

import numpy as np

from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.fg_simt.sizes import DIVISIONS, LATENCY, SECOND_SAU
from warploom.arch.isa import RZ, Op
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.lanes import Lanes, mask_of
from warploom.golden_model.fg_simt.memory_unit import Access, MemoryUnit
from warploom.golden_model.fg_simt.micro import ZERO, Micro, Register


class Execution:
    """Values are computed at issue; when results may be used is the issue unit's matter. `loads` are those that
    wait for their write-back; `counts` are operations and executing threads, in all and by unit (`unit_of`), registers
    and constants that operations read, words that are written, and masks for the control processor."""

    def __init__(self, lanes: Lanes, memory: MemoryUnit) -> None:
        self._lanes, self._memory = lanes, memory
        self.loads: deque[Access] = deque()
        self.block: LaunchBlock
        self.counts: Counter[str] = Counter()

    def takes(self, rows: int) -> bool:
        """Whether the SMRQ has room for so many rows."""
        return self._memory.takes(rows)

    def answered(self) -> bool:
        """Whether all answers of the oldest load are there."""
        return not self.loads[0].left

    def collect(self, micro: Micro) -> int:
        """The mask of executing lanes."""
        self.counts["collects"] += 1
        return mask_of(self._lanes.executing(micro))

    def compute(self, micro: Micro) -> None:
        """An operation of an SAU."""
        self._count(micro)
        self._lanes.compute(micro)

    def access(self, cycle: int, micro: Micro) -> None:
        """An access, whose address generation issues in a cycle."""
        self._count(micro)
        data = None
        if micro.op is not Op.LD:
            data = np.broadcast_to(self._lanes.read(micro.operands[2]), 32).copy()
        access = self._memory.add(cycle, micro, self._lanes.addresses(micro, self.block), data)
        if micro.loads:
            self.loads.append(access)

    def write_back(self) -> None:
        """The oldest load."""
        access = self.loads.popleft()
        self.counts["words_written"] += int(np.count_nonzero(access.lanes.executing))
        self._lanes.load(access.micro, access.lanes.executing, access.words)

    def discard(self) -> None:
        """The kernel stops: loads are forgotten."""
        self.loads.clear()

    def _count(self, micro: Micro) -> None:
        threads, unit = int(np.count_nonzero(self._lanes.executing(micro))), unit_of(micro.op)
        self.counts.update({
            "lane_operations": 1, f"{unit}_operations": 1, "lane_threads": threads, f"{unit}_threads": threads,
            "registers_read": sum(isinstance(operand, Register) for operand in micro.operands),
            "constants_read": sum(isinstance(one, Compact) and one != ZERO for one in micro.operands),
            "words_written": threads * (unit != "access" and micro.dst != RZ)})


def unit_of(op: Op) -> str:
    """The unit of a lane that executes an operation."""
    if op not in LATENCY:
        return "access"
    if LATENCY[op] == 1:
        return "simple"
    if op is Op.CVT:
        return "conversion"
    return "division" if op in DIVISIONS else "product" if op in SECOND_SAU else "fused"
