"""Random operations for the issue unit, and the lanes and the memory unit behind it."""

import random
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import DIVIDE_INTERVAL, REGISTERS, SLWQ_ENTRIES
from warploom.golden_model.fg_simt.issue import Units
from warploom.tb.fg_simt.eight_lanes import GROUPS, ROWS

PAYLOAD_BITS, EXTENSION_BITS = 12, 3
SAUS = {Unit.EITHER: 0b11, Unit.FIRST: 0b01, Unit.SECOND: 0b10, Unit.DIVIDE: 0b10, Unit.SGU: 0}


class Sent(NamedTuple):
    """An operation as the issue unit sees it (`warploom.golden_model.fg_simt.issue.Operation`), and the rest of it."""

    kind: Kind
    unit: Unit
    latency: int
    pc: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    loads: bool
    mask: int = 0
    payload: int = 0
    extension: int = 0

    @property
    def operation(self) -> dict[str, Any]:
        """For lanes and SMU, by field."""
        sources = [number for number in self.reads if number < REGISTERS]
        predicates = [number - REGISTERS for number in self.writes if number >= REGISTERS]
        return {"pc": self.pc, "mask": self.mask, "payload": self.payload, "destination": self.destination,
                "predicate": _named(predicates), "sources": {str(k): _named([r]) for k, r in enumerate(sources)}}

    @property
    def destination(self) -> dict[str, int]:
        """The register that it writes, by field."""
        return _named([number for number in self.writes if number < REGISTERS])

    @property
    def micro(self) -> dict[str, Any]:
        """All of it, by field."""
        latency = {Unit.DIVIDE: 5, Unit.SGU: 1}.get(self.unit, self.latency)
        return {"saus": SAUS[self.unit], "latency": latency, "divide": int(self.unit is Unit.DIVIDE),
                "collect": int(self.kind is Kind.COLLECT), "load": int(self.loads),
                "vector": int(self.kind is Kind.VECTOR), "operation": self.operation, "extension": self.extension,
                "predicates": sum(1 << number - REGISTERS for number in self.reads if number >= REGISTERS)}

    @property
    def read_cycles(self) -> list[int]:
        """Cycles after the issue in which its groups read, in order."""
        groups = 1 if self.kind is Kind.VECTOR else GROUPS
        return [1 + group * (DIVIDE_INTERVAL if self.unit is Unit.DIVIDE else 1) for group in range(groups)]


def _named(numbers: list[int]) -> dict[str, int]:
    return {"number": numbers[0], "valid": 1} if numbers else {}


class Form(NamedTuple):
    """A form of operations: what it is, how many registers it reads, whether it writes a register and a predicate."""

    kind: Kind
    unit: Unit
    latency: int
    sources: int
    writes: bool = True
    tests: bool = False
    loads: bool = False


FORMS = {
    "simple": Form(Kind.COMPUTE, Unit.EITHER, 1, 2, tests=True),
    "float": Form(Kind.COMPUTE, Unit.FIRST, 5, 3),
    "convert": Form(Kind.COMPUTE, Unit.FIRST, 3, 1),
    "multiply": Form(Kind.COMPUTE, Unit.SECOND, 3, 3, tests=True),
    "divide": Form(Kind.COMPUTE, Unit.DIVIDE, 20, 2),
    "store": Form(Kind.ACCESS, Unit.SGU, 1, 3, writes=False),
    "load": Form(Kind.ACCESS, Unit.SGU, 1, 2, loads=True),
    "atomic": Form(Kind.ACCESS, Unit.SGU, 1, 3, loads=True),
    "vector": Form(Kind.VECTOR, Unit.SGU, 1, 0, loads=True),
    "collect": Form(Kind.COLLECT, Unit.EITHER, 1, 0, writes=False),
}
WEIGHTS = {
    "all": (8, 3, 2, 3, 1, 2, 4, 1, 2, 1), "arithmetic": (8, 4, 2, 3, 0, 0, 0, 0, 0, 0),
    "divisions": (6, 2, 1, 1, 3, 0, 0, 0, 0, 1), "memory": (2, 0, 0, 0, 0, 3, 6, 2, 0, 0),
    "vectors": (2, 0, 0, 0, 0, 2, 1, 0, 8, 0), "branches": (4, 1, 0, 1, 1, 1, 1, 0, 0, 6),
}
"""How often each form comes, in several moods."""


class Program:
    """An endless stream of operations, whose mood changes."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.change()

    def change(self) -> None:
        """Another mood: forms, and how many registers and predicates there are."""
        self._weights = WEIGHTS[self._rng.choice(list(WEIGHTS))]
        self._registers = self._rng.sample(range(REGISTERS), self._rng.choice((2, 4, 8, 32)))
        self._predicates = self._rng.sample(range(7), self._rng.choice((1, 2, 7)))

    def next(self) -> Sent:
        """The next operation."""
        rng = self._rng
        form = FORMS[rng.choices(list(FORMS), self._weights)[0]]
        registers = {rng.choice(self._registers) for _ in range(rng.randint(0, form.sources))}
        read = {rng.choice(self._predicates) for _ in range(rng.choice((0, 0, 1, 2)))}
        if form.kind is Kind.COLLECT:
            read.add(rng.choice(self._predicates))
        writes = [rng.choice(self._registers)] if form.writes and rng.random() < 0.9 else []
        if form.tests and rng.random() < 0.3:
            writes.append(REGISTERS + rng.choice(self._predicates))
        return Sent(form.kind, form.unit, form.latency, rng.getrandbits(24),
                    (*sorted(registers), *(REGISTERS + number for number in sorted(read))), tuple(writes), form.loads,
                    rng.getrandbits(32), rng.getrandbits(PAYLOAD_BITS), rng.getrandbits(EXTENSION_BITS))


class Neighbours(Units[Sent], Protocol):
    """The units behind the issue unit: the next entry of the SLWQ, rows in the SMRQ or on their way."""

    @property
    def place(self) -> int: ...
    @property
    def rows(self) -> int: ...
    def end(self) -> None: ...


class Pending(NamedTuple):
    """A load in the SLWQ: its entry, and the cycle from which on all answers are there."""

    place: int
    answered: int


class Behind:
    """The units behind the issue unit, as `warploom.golden_model.fg_simt.issue.Units`, and their inputs to it: rows of
    accesses leave the SMRQ and answers come after random times."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.cycle = self.rows = self._count = 0
        self.loads: deque[Pending] = deque()
        self.patience = 0.5
        self._written = -GROUPS
        self._freed = 0

    def inputs(self, cycle: int) -> Mapping[str, int]:
        """The inputs of a cycle. What no load that may be looked at has is random."""
        rng = self._rng
        self.cycle = cycle
        self._freed = int(self.rows > 0 and rng.random() < self.patience)
        answered = rng.getrandbits(SLWQ_ENTRIES)
        if cycle >= self._written + GROUPS:
            for load in self.loads:
                bit = 1 << load.place
                answered = answered | bit if cycle >= load.answered else answered & ~bit
        return {"freed": self._freed, "answered": answered}

    def end(self) -> None:
        """The end of a cycle."""
        self.rows -= self._freed
        self._freed = 0

    @property
    def place(self) -> int:
        """The entry of the SLWQ that the next load gets."""
        return self._count % SLWQ_ENTRIES

    def takes(self, rows: int) -> bool:
        return self.rows + rows <= ROWS

    def answered(self) -> bool:
        return self.cycle >= self.loads[0].answered

    def collect(self, micro: Sent) -> int:
        return 0

    def compute(self, micro: Sent) -> None:
        pass

    def access(self, cycle: int, micro: Sent) -> None:
        self.rows += len(micro.read_cycles)
        if micro.loads:
            self.loads.append(Pending(self.place, cycle + 1 + self._rng.randrange(int(3 + 10 / self.patience))))
            self._count += 1

    def write_back(self) -> None:
        self._written = self.cycle
        self.loads.popleft()

    def discard(self) -> None:
        self.rows = self._freed = 0
        self.loads.clear()
