"""`IssueUnit`: the queue from the control processor, the scoreboard, and loads that wait for their write-back."""

from collections import deque
from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import (
    DIVIDE_INTERVAL,
    EIGHT_LANES,
    LATENCY,
    PREDICATES,
    REGISTERS,
    SIQ_ENTRIES,
    SLWQ_ENTRIES,
    STORED_AFTER,
    Sizes,
)
from warploom.arch.isa import Op

NEVER = 1 << 62
SRF = 2
"""Its claims, behind those of the SAUs."""

CHOICES = {Unit.EITHER: (0, 1), Unit.FIRST: (0,), Unit.SECOND: (1,), Unit.DIVIDE: (1,)}
CLAIMED_BEFORE = 8
"""Cycles from the claim of the SRF by a group of a division to its write."""


class Division:
    """Cycles of a division, from its issue on, with so many groups: `read`, the last one reads; `turns`, nothing else
    issues, because one of them reads instead; `claims`, they claim the SRF; `known`, the result is forwardable; `free`,
    the SAU takes the next operation."""

    def __init__(self, groups: int) -> None:
        step = DIVIDE_INTERVAL - 1
        self.read = (groups - 1) * DIVIDE_INTERVAL
        self.turns = frozenset(step * group for group in range(1, groups))
        self.claims = frozenset(LATENCY[Op.FDIV] + 2 + step * group - CLAIMED_BEFORE for group in range(groups))
        self.known = groups * DIVIDE_INTERVAL + 2
        self.free = groups * (DIVIDE_INTERVAL + 1)


class Issued(NamedTuple):
    """What issues in a cycle: 0 nothing, 1 an operation, 2 a write-back; its PC, and the SAU (2: SGU, 3: SLU)."""

    what: int = 0
    pc: int = 0
    unit: int = 0


class Operation(Protocol):
    """What the issue unit knows of an operation (`warploom.golden_model.fg_simt.micro.Micro`)."""

    @property
    def kind(self) -> Kind: ...
    @property
    def unit(self) -> Unit: ...
    @property
    def latency(self) -> int: ...
    @property
    def pc(self) -> int: ...
    @property
    def reads(self) -> Sequence[int]: ...
    @property
    def writes(self) -> Sequence[int]: ...
    @property
    def loads(self) -> bool: ...


M = TypeVar("M", bound=Operation)
M_contra = TypeVar("M_contra", bound=Operation, contravariant=True)


class Units(Protocol[M_contra]):
    """What executes the operations that issue (`warploom.golden_model.fg_simt.execution.Execution`)."""

    def takes(self, rows: int) -> bool: ...
    def answered(self) -> bool: ...
    def collect(self, micro: M_contra) -> int: ...
    def compute(self, micro: M_contra) -> None: ...
    def access(self, cycle: int, micro: M_contra) -> None: ...
    def write_back(self) -> None: ...
    def discard(self) -> None: ...


class IssueUnit(Generic[M]):
    """The SIU of an engine of some `sizes`. Cycles count from the start of the kernel's engine; a resource is a
    register, or behind them a predicate."""

    observed = ("siq", "slwq", "issue", "issue_pc", "issue_unit", "claimed0", "claimed1", "claimed_srf")

    def __init__(self, units: Units[M], sizes: Sizes = EIGHT_LANES) -> None:
        self._units, self._groups, self._of_division = units, sizes.groups, Division(sizes.groups)
        self.queue: deque[M] = deque()
        self._loads: deque[M] = deque()
        self._forwardable = [0] * (REGISTERS + PREDICATES)
        self._free = [0, 0]  # of each SAU, the first cycle in which it takes an instruction
        self._cycle = self._sgu_free = self._slu_free = self._quiet = 0
        self._division = -NEVER  # when the last division issued, and what it is
        self._divided: M | None = None
        self._claimed = [0, 0, 0]  # of each SAU's write port, and of the SRF: bit k is the cycle after k cycles
        self._mask, self._mask_from = 0, NEVER
        self._issued = Issued()

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
        """The kernel stops: what has not issued is forgotten, and accesses generate no more addresses."""
        self.queue.clear()
        self._loads.clear()
        self._units.discard()
        self._mask_from = NEVER
        self._sgu_free = self._cycle + 1
        self._forwardable = [min(cycle, self._quiet) for cycle in self._forwardable]

    def clock(self, cycle: int) -> None:
        """One cycle."""
        self._cycle, self._issued = cycle, Issued()
        self._divide(cycle - self._division)
        if not self._write_back(cycle) and self.queue and self._issue(cycle, self.queue[0]):
            self.queue.popleft()
        self._claimed = [claims >> 1 for claims in self._claimed]

    def _divide(self, age: int) -> None:
        """A division under way, that old."""
        if age in self._of_division.claims:
            self._claimed[SRF] |= 1 << CLAIMED_BEFORE
        if age == self._of_division.known and self._divided is not None:
            for resource in self._divided.writes:
                self._forwardable[resource] = self._cycle

    def _claims_srf(self, latency: int) -> bool:
        """Whether the SRF can be written by what issues now; if so it is claimed."""
        claim = 1 << latency + 2
        is_free = not self._claimed[SRF] & claim
        self._claimed[SRF] |= claim
        return is_free

    # ------------------------------------------------------------ loads

    def _write_back(self, cycle: int) -> bool:
        if not self._loads or not self._units.answered() or cycle < self._slu_free or not self._claims_srf(0):
            return False
        micro = self._loads.popleft()
        self._units.write_back()
        self._slu_free = cycle + self._groups
        self._finish(cycle, 0, micro)
        self._issued = Issued(2, micro.pc, 3)
        return True

    # ------------------------------------------------------------ the first of the queue

    def _issue(self, cycle: int, micro: M) -> bool:
        if any(self._forwardable[resource] > cycle for resource in micro.reads):
            return False
        age = cycle - self._division
        if age in self._of_division.turns:
            return False
        divided = self._divided
        if divided is not None and age <= self._of_division.read and set(divided.reads) & set(micro.writes):
            return False
        return self._access(cycle, micro) if micro.unit is Unit.SGU else self._arithmetic(cycle, micro)

    def _finish(self, cycle: int, latency: int, micro: M) -> None:
        """The results of what issues in a cycle can be forwarded after it, and `latency` cycles."""
        for resource in micro.writes:
            self._forwardable[resource] = cycle + latency + 1
        self._quiet = max(self._quiet, cycle + latency + 2 + self._groups)

    def _access(self, cycle: int, micro: M) -> bool:
        rows = 1 if micro.kind is Kind.VECTOR else self._groups
        room = self._units.takes(rows)
        if cycle < self._sgu_free or not room or (micro.loads and len(self._loads) == SLWQ_ENTRIES):
            return False
        if any(self._forwardable[resource] > cycle + 1 for resource in micro.writes):
            return False
        if micro.kind is Kind.VECTOR and self.outruns(cycle):
            return False
        self._sgu_free = cycle + rows
        self._units.access(cycle, micro)
        if micro.loads:
            self._loads.append(micro)
            for resource in micro.writes:
                self._forwardable[resource] = NEVER
        self._issued = Issued(1, micro.pc, 2)
        return True

    def outruns(self, cycle: int) -> bool:
        """Whether words of a vector load could be stored where the SLU still reads others: the entry that is free is
        that of the last write-back."""
        return len(self._loads) == SLWQ_ENTRIES - 1 and cycle + STORED_AFTER <= self._slu_free

    def _arithmetic(self, cycle: int, micro: M) -> bool:
        ready = cycle + micro.latency + 1
        pending = (self._forwardable[resource] for resource in micro.writes)
        if any(later > cycle and later >= ready for later in pending):
            return False
        for sau in CHOICES[micro.unit]:
            claims = 0 if micro.unit is Unit.DIVIDE else (1 << self._groups) - 1 << micro.latency + 2
            if cycle >= self._free[sau] and not self._claimed[sau] & claims:
                if claims and not self._claims_srf(micro.latency):
                    return False
                self._claimed[sau] |= claims
                self._start(cycle, sau, micro)
                return True
        return False

    def _start(self, cycle: int, sau: int, micro: M) -> None:
        """An operation enters an SAU."""
        self._free[sau] = cycle + self._groups
        self._issued = Issued(1, micro.pc, sau)
        if micro.kind is Kind.COLLECT:
            self._mask, self._mask_from = self._units.collect(micro), cycle + 2 + self._groups
            self._quiet = max(self._quiet, cycle + 2 + self._groups)
            return
        self._units.compute(micro)
        if micro.unit is Unit.DIVIDE:
            self._free[sau] = cycle + self._of_division.free
            self._division, self._divided = cycle, micro
            self._quiet = max(self._quiet, cycle + self._of_division.known + 1 + self._groups)
            for resource in micro.writes:
                self._forwardable[resource] = NEVER
        else:
            self._finish(cycle, micro.latency, micro)

    def observe(self) -> list[int]:
        """See `warploom.golden_model.observation.Part`."""
        return [len(self.queue), len(self._loads), *self._issued, *self._claimed]
