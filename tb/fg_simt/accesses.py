"""Random memory instructions, as the parts before the memory unit bring them."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.arch.fg_simt.micro import Kind
from warploom.arch.fg_simt.sizes import LINE, Cause
from warploom.arch.isa import Instruction, Op
from warploom.arch.l1 import Operation
from warploom.arch.modifiers import Access
from warploom.golden_model.fg_simt.cached_memory import ATOMICS
from warploom.golden_model.fg_simt.lanes import Addresses, size_of
from warploom.golden_model.fg_simt.micro import TRUE, ZERO, Micro, micro
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES
from warploom.tb.fg_simt.test_coalesce import addresses


@dataclass(frozen=True)
class Memory:
    """A memory instruction with its addresses and data."""

    micro: Micro
    lanes: Addresses
    data: np.ndarray

    @property
    def is_vector(self) -> bool:
        """Whether it is a vector load."""
        return self.micro.kind is Kind.VECTOR

    @property
    def loads(self) -> bool:
        """Whether it returns data."""
        return self.micro.instruction.op in (Op.LD, Op.ATOM)

    @property
    def size(self) -> int:
        """Bytes that a lane accesses."""
        return size_of(self.micro.instruction)

    @property
    def operation(self) -> Operation:
        """What its requests do."""
        i = self.micro.instruction
        if i.op in (Op.ATOM, Op.RED):
            return ATOMICS[i.atom, i.dst_type]
        return Operation.READ if i.op is Op.LD else Operation.WRITE

    def rows(self, entry: int) -> list[dict[str, Any]]:
        """Its rows, as fields of the port `arriving`; `entry` is that of the SLWQ."""
        count = 1 if self.is_vector else GROUPS
        return [{"row": {"instruction": self._instruction(group, entry, last=group == count - 1),
                         **(self._vector() if self.is_vector else self._group(group))},
                 "cause": self._causes(group)} for group in range(count)]

    def _instruction(self, group: int, entry: int, *, last: bool) -> dict[str, int]:
        return {"operation": self.operation, "size": self.size.bit_length() - 1, "loads": int(self.loads),
                "vector": int(self.is_vector), "last": int(last), "place": GROUPS * entry + group,
                "pc": self.micro.pc}

    def _causes(self, group: int) -> dict[str, int]:
        cause = self.lanes.cause
        return {"0": int(cause.max())} if self.is_vector else _array(cause[LANES * group:][:LANES])

    def _group(self, group: int) -> dict[str, Any]:
        of = slice(LANES * group, LANES * group + LANES)
        return {"execute": _mask(self.lanes.executing[of]), "address": _array(self.lanes.address[of]),
                "data": _array(self.data[of])}

    def _vector(self) -> dict[str, Any]:
        return {"execute": 1, "address": _array(self.lanes.address[:1]),
                "data": {"0": _mask(self.lanes.executing)}}


def random_access(rng: random.Random, *, faults: float) -> Memory:
    """A load, store, atomic or vector load; some have an illegal address, but no vector load, as in the engine."""
    op = rng.choice((Op.LD, Op.LD, Op.ST, rng.choice((Op.ATOM, Op.RED))))
    vector = op is Op.LD and rng.random() < 0.4
    atom, kind = rng.choice(list(ATOMICS))
    if op in (Op.ATOM, Op.RED):
        i = Instruction(op=op, dst_type=kind, atom=atom)
    else:
        i = Instruction(op=op, access=rng.choice((Access.B32, rng.choice(list(Access)))))
    size = size_of(i)
    executing = np.array([rng.getrandbits(32) >> thread & 1 for thread in range(32)]) > 0
    if rng.random() < 0.6:
        executing[:] = True
    elif rng.random() < 0.5:
        executing[rng.randrange(32):] = False
    if vector:
        executing[rng.randrange(32)] = True
        first = LINE * rng.randrange(1 << 26) + size * rng.randrange(LINE // size)
        place = [first + thread * size for thread in range(32)]
    else:
        place = [address for _ in range(GROUPS) for address in addresses(rng, size)]
    cause = np.zeros(32, np.uint8)
    if rng.random() < faults and not vector:
        cause[:] = rng.choice((Cause.BUS, Cause.MISALIGNED))
        cause[[rng.random() < 0.8 for _ in range(32)]] = 0
        cause[rng.randrange(32)] = Cause.MISALIGNED
    described = micro(rng.getrandbits(24), 0, i, operands=(ZERO, ZERO, ZERO), guard=TRUE, pred=TRUE,
                      kind=Kind.VECTOR if vector else Kind.ACCESS)
    return Memory(described, Addresses(executing, np.array(place, np.uint32), np.where(executing, cause, 0)),
                  np.array([rng.getrandbits(32) for _ in range(32)], np.uint32))


def _mask(lanes: np.ndarray) -> int:
    return sum(1 << lane for lane, executes in enumerate(lanes) if executes)


def _array(values: np.ndarray) -> dict[str, int]:
    return {str(lane): int(value) for lane, value in enumerate(values)}
