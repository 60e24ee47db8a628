"""`IssueUnit`: the queue from the control processor, the scoreboard, and loads that wait for their write-back."""

from collections import deque
from typing import NamedTuple

import numpy as np

from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import (
    DIVIDE_INTERVAL,
    GROUPS,
    PREDICATES,
    REGISTERS,
    SIQ_ENTRIES,
    SLWQ_ENTRIES,
)
from warploom.arch.isa import Op
from warploom.golden_model.fg_simt.lanes import Lanes, mask_of
from warploom.golden_model.fg_simt.memory_unit import Access, MemoryUnit
from warploom.golden_model.fg_simt.micro import Micro

NEVER = 1 << 62
CHOICES = {Unit.EITHER: (0, 1), Unit.FIRST: (0,), Unit.SECOND: (1,), Unit.DIVIDE: (1,)}
DIVISION_READ = (GROUPS - 1) * DIVIDE_INTERVAL


class Issued(NamedTuple):
    """What issues in a cycle: 0 nothing, 1 an operation, 2 a write-back; its PC, and the SAU (2: SGU, 3: SLU)."""

    what: int = 0
    pc: int = 0
    unit: int = 0


class IssueUnit:
    """The SIU. Cycles count from the start of the kernel's engine; a resource is a register, or behind them a
    predicate."""

    observed = ("siq", "slwq", "issue", "issue_pc", "issue_unit", "claimed0", "claimed1")

    def __init__(self, lanes: Lanes, memory: MemoryUnit) -> None:
        self._lanes, self._memory = lanes, memory
        self.queue: deque[Micro] = deque()
        self._loads: deque[Access] = deque()
        self._forwardable = [0] * (REGISTERS + PREDICATES)
        self._free = [0, 0]  # of each SAU, the first cycle in which it takes an instruction
        self._cycle = self._sgu_free = self._slu_free = self._quiet = 0
        self._claimed = [0, 0]  # of each SAU's write port: bit k is the cycle after k cycles
        self._mask, self._mask_from = 0, NEVER
        self._issued = Issued()
        self.block: LaunchBlock
        self.issued: list[int] = [0, 0]  # operations, and threads in them

    @property
    def has_room(self) -> bool:
        """Whether the SIQ takes an operation."""
        return len(self.queue) < SIQ_ENTRIES

    def is_quiet(self, cycle: int) -> bool:
        """Whether queues are empty, and every result is written."""
        return not self.queue and not self._loads and cycle >= self._quiet

    def take_mask(self) -> int | None:
        """The branch resolution mask, None if it is not complete; it is taken."""
        if self._cycle < self._mask_from:
            return None
        self._mask_from = NEVER
        return self._mask

    def discard(self) -> None:
        """The kernel stops: what has not issued is forgotten."""
        self.queue.clear()
        self._loads.clear()
        self._mask_from = NEVER
        self._forwardable = [min(cycle, self._quiet) for cycle in self._forwardable]

    def clock(self, cycle: int) -> None:
        """One cycle."""
        self._cycle, self._issued = cycle, Issued()
        if not self._write_back(cycle) and self.queue and self._issue(cycle, self.queue[0]):
            self.queue.popleft()
        self._claimed = [claims >> 1 for claims in self._claimed]

    # ------------------------------------------------------------ loads

    def _write_back(self, cycle: int) -> bool:
        if not self._loads or self._loads[0].left or cycle < self._slu_free:
            return False
        access = self._loads.popleft()
        self._lanes.load(access.micro, access.lanes.executing, access.words)
        self._slu_free = cycle + GROUPS
        self._finish(cycle, 1, access.micro)
        self._issued = Issued(2, access.micro.pc, 3)
        return True

    # ------------------------------------------------------------ the first of the queue

    def _issue(self, cycle: int, micro: Micro) -> bool:
        if any(self._forwardable[resource] > cycle for resource in micro.reads):
            return False
        issues = self._access(cycle, micro) if micro.unit is Unit.SGU else self._arithmetic(cycle, micro)
        if issues and micro.kind is not Kind.COLLECT:
            self.issued[0] += 1
            self.issued[1] += int(np.count_nonzero(self._lanes.executing(micro)))
        return issues

    def _finish(self, cycle: int, latency: int, micro: Micro) -> None:
        """The results of what issues in a cycle can be forwarded after `latency` cycles."""
        for resource in micro.writes:
            self._forwardable[resource] = cycle + latency
        self._quiet = max(self._quiet, cycle + latency + 2 + GROUPS)

    def _access(self, cycle: int, micro: Micro) -> bool:
        loads = micro.instruction.op in (Op.LD, Op.ATOM)
        room = self._memory.takes(1 if micro.kind is Kind.VECTOR else GROUPS)
        if cycle < self._sgu_free or not room or (loads and len(self._loads) == SLWQ_ENTRIES):
            return False
        if any(self._forwardable[resource] > cycle for resource in micro.writes):
            return False
        self._sgu_free = cycle + (1 if micro.kind is Kind.VECTOR else GROUPS)
        data = None
        if micro.instruction.op is not Op.LD:
            data = np.broadcast_to(self._lanes.read(micro.operands[2]), 32).copy()
        access = self._memory.add(cycle, micro, self._lanes.addresses(micro, self.block), data)
        if loads:
            self._loads.append(access)
            for resource in micro.writes:
                self._forwardable[resource] = NEVER
        self._issued = Issued(1, micro.pc, 2)
        return True

    def _arithmetic(self, cycle: int, micro: Micro) -> bool:
        ready = cycle + micro.latency
        pending = (self._forwardable[resource] for resource in micro.writes)
        if any(later > cycle and later >= ready for later in pending):
            return False
        for sau in CHOICES[micro.unit]:
            claims = 0 if micro.unit is Unit.DIVIDE else (1 << GROUPS) - 1 << micro.latency + 2
            if cycle >= self._free[sau] and not self._claimed[sau] & claims:
                self._claimed[sau] |= claims
                self._start(cycle, sau, micro)
                return True
        return False

    def _start(self, cycle: int, sau: int, micro: Micro) -> None:
        """An operation enters an SAU."""
        self._free[sau] = cycle + GROUPS
        self._issued = Issued(1, micro.pc, sau)
        if micro.kind is Kind.COLLECT:
            self._mask, self._mask_from = mask_of(self._lanes.executing(micro)), cycle + 2 + GROUPS
            self._quiet = max(self._quiet, cycle + 2 + GROUPS)
            return
        self._lanes.compute(micro)
        if micro.unit is Unit.DIVIDE:
            self._free[sau] = cycle + DIVISION_READ + micro.latency
            self._finish(cycle, DIVISION_READ + micro.latency + 2, micro)
        else:
            self._finish(cycle, micro.latency, micro)

    def observe(self) -> list[int]:
        """See `warploom.golden_model.observation.Part`."""
        return [len(self.queue), len(self._loads), *self._issued, *self._claimed]


