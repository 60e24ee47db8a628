"""Property of the coalescing register file: values are read as written, for all shapes of old and new values."""

import itertools
import random
from collections import deque
from typing import NamedTuple

import cocotb
import pytest

from warploom.arch.config import LANES, SmConfig
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Ports, exercise, source
from warploom.tb.register_program import REGISTERS, WRITES, Draft, Key, OperandCheck, Program, points

DIRECTED = range(12, REGISTERS)
"""Registers that only directed sequences write."""


class Shape(NamedTuple):
    """The inputs of a width detector in some lanes: the significant bytes, and the sign of the others."""

    width: int
    sign: int


SHAPES = tuple(Shape(width, sign) for width in range(1, 5) for sign in range(2))


def transition(old: Shape, new: Shape, full: bool) -> str:
    """Name of the coverage point: a write of shape `new` over a full one of shape `old`."""
    return f"{old.width}{'+-'[old.sign]} to {new.width}{'+-'[new.sign]}, {'full' if full else 'partial'}"


TRANSITIONS = tuple(itertools.product(SHAPES, SHAPES, (True, False)))


def shape_of(values: list[int], lanes: int) -> Shape:
    """The shape of the values in some lanes."""
    executing = [value for lane, value in enumerate(values) if lanes >> lane & 1]
    sign = max(value >> 31 for value in executing)
    extended = [value ^ 0xFFFFFFFF * sign for value in executing]
    return Shape(max(1, *(-(-value.bit_length() // 8) for value in extended)), sign)


def values_of(rng: random.Random, shape: Shape, lanes: int) -> list[int]:
    """Random values: of the shape in some lanes, arbitrary in the others."""
    values = [rng.getrandbits(32) for _ in range(LANES)]
    executing = [lane for lane in range(LANES) if lanes >> lane & 1]
    witness = rng.choice(executing)
    for lane in executing:
        value = rng.getrandbits(8 * rng.randint(1, shape.width)) & 0x7FFFFFFF
        if lane == witness:
            value |= 1 << 8 * (shape.width - 1)
        mixed = shape.width == 4 and lane != witness and rng.random() < 0.3
        values[lane] = value ^ 0xFFFFFFFF * (shape.sign and not mixed)
    return values


class ShapedProgram(Program):
    """Directed sequences among random writes: a full write of each shape, then a full or partial one of each shape."""

    def __init__(self, ports: Ports, rng: random.Random, coverage: Coverage) -> None:
        super().__init__(ports, rng, coverage)
        self._last: dict[Key, Shape | None] = {}  # shape of the last write, if that was full
        self._directed: dict[Key, deque[tuple[Shape, bool]]] = {}
        for parity in range(2):
            keys = [key for key in self._registers if key[1] in DIRECTED and key[1] % 2 == parity]
            for old, new, full in TRANSITIONS:
                self._directed.setdefault(rng.choice(keys), deque()).extend(((old, True), (new, full)))

    @property
    def complete(self) -> bool:
        """All sequences have ended, too."""
        return super().complete and not any(self._directed.values())

    def _draft(self, key: Key) -> Draft | None:
        shape, full, writes = self._rng.choice(SHAPES), self._rng.random() < 0.4, self._rng.random() < 0.9
        steps = self._directed.get(key)
        if key[1] in DIRECTED:
            writes = bool(steps)
        if steps:
            shape, full = steps[0]
        return Draft(full, lambda lanes: values_of(self._rng, shape, lanes)) if writes else None

    def _write(self, key: Key, data: list[int], lanes: int, full: bool) -> None:
        if steps := self._directed.get(key):
            steps.popleft()
        shape, old = shape_of(data, lanes), self._last.get(key)
        if old is not None:
            self._coverage.hit(transition(old, shape, full))
        self._last[key] = shape if full else None
        super()._write(key, data, lanes, full)


@cocotb.test()
async def writes_and_reads(dut: cocotb.handle.SimHandleBase) -> None:
    """Random writes and reads, and every transition from one stored form to another."""
    ports, checker = Ports(dut), Checker(minimum=15 * WRITES)
    coverage = Coverage(*points(ports.config), *(transition(*point) for point in TRANSITIONS))
    program = ShapedProgram(ports, source(), coverage)
    await exercise(ports, program.stimuli(), OperandCheck(ports, program, checker), checker, partial=True)
    checker.holds("enough was written", program.writes >= WRITES)
    checker.finish()
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("settings", [["alignment=reg"], ["alignment=write"], ["alignment=write", "layout=wid"]],
                         ids=" ".join)
def test_register_file(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["coalescing=on", *settings])
    runner.run(runner.build(config, "Datapath"), "warploom.tb.coalescing.test_register_file", seed)
