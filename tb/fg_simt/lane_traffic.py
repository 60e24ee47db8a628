"""What the lanes' bench sends: random operations, or those of a program, and the memory unit behind them."""

import random
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS, SLWQ_ENTRIES
from warploom.arch.isa import PT, Instruction, Op
from warploom.arch.mechanisms import Affine
from warploom.fg_simt.images import image
from warploom.fg_simt.programs import started
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.engine import Engine
from warploom.golden_model.fg_simt.lanes import Addresses, Lanes, mask_of
from warploom.golden_model.fg_simt.memory import IdealMemory
from warploom.golden_model.fg_simt.micro import TRUE, Micro, give
from warploom.tb.codec import join
from warploom.tb.fg_simt.accesses import Memory
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES, ROWS
from warploom.tb.fg_simt.issue_replay import WHAT
from warploom.tb.fg_simt.micros import MOODS, pool, random_micro

SLOWEST = 6
"""Cycles from the issue of a load to its answers, at least."""

BYTES = ("shared_bytes", "local_bytes", "constant_bytes", "parameter_bytes")


class Warp(NamedTuple):
    """A new warp: the launch block, and the coordinates of its threads."""

    block: LaunchBlock
    positions: np.ndarray


Event = Micro | Warp


class Begun(NamedTuple):
    """What has just issued: the operation, its executing lanes, and for accesses rows and the entry of the SLWQ."""

    micro: Micro
    executing: np.ndarray
    entry: int = 0
    memory: Memory | None = None


@dataclass
class Load:
    """A load under way: its words are there from a cycle on."""

    done: Begun
    answered: int
    words: np.ndarray


class LaneModel:
    """The model's lanes as `warploom.golden_model.fg_simt.issue.Units`. Rows leave the SMRQ and answers come after
    random times. `words` are those of loads, in order; random ones behind them."""

    def __init__(self, rng: random.Random, words: Iterator[np.ndarray]) -> None:
        self._rng, self._words = rng, words
        self.lanes = Lanes()
        self.block = LaunchBlock(*([0] * len(LaunchBlock._fields)))
        self.patience = 0.5
        self.done: Begun
        self.places = [[0] * LANES for _ in range(SLWQ_ENTRIES * GROUPS)]
        """What is in the SLDQs."""
        self._loads: deque[Load] = deque()
        self._rows = self._count = self._freed = self._cycle = 0

    def inputs(self, cycle: int) -> Mapping[str, int]:
        """What the memory unit gives the issue unit in a cycle."""
        self._cycle = cycle
        self._freed = int(self._rows > 0 and self._rng.random() < self.patience)
        answered = 0
        for load in self._loads:
            if cycle >= load.answered:
                answered |= 1 << load.done.entry
            if cycle == load.answered:
                first = GROUPS * load.done.entry
                self.places[first : first + GROUPS] = load.words.reshape(GROUPS, LANES).tolist()
        return {"freed": self._freed, "answered": answered}

    def end(self) -> None:
        """The end of a cycle."""
        self._rows -= self._freed
        self._freed = 0

    def takes(self, rows: int) -> bool:
        return self._rows + rows <= ROWS

    def answered(self) -> bool:
        return self._cycle >= self._loads[0].answered

    def collect(self, micro: Micro) -> int:
        self.done = Begun(micro, self.lanes.executing(micro))
        return mask_of(self.done.executing)

    def compute(self, micro: Micro) -> None:
        self.done = Begun(micro, self.lanes.executing(micro))
        self.lanes.compute(micro)

    def access(self, cycle: int, micro: Micro) -> None:
        addresses: Addresses = self.lanes.addresses(micro, self.block)
        stored = np.broadcast_to(self.lanes.read(micro.operands[2]), 32).copy()
        self._rows += 1 if micro.kind is Kind.VECTOR else GROUPS
        self.done = Begun(micro, addresses.executing, self._count % SLWQ_ENTRIES, Memory(micro, addresses, stored))
        if micro.loads:
            self._count += 1
            words = next(self._words, None)
            self._loads.append(Load(
                self.done, cycle + SLOWEST + self._rng.randrange(int(1 + 10 / self.patience)),
                np.array([self._rng.getrandbits(32) for _ in range(32)], np.uint32) if words is None else words))

    def write_back(self) -> None:
        load = self._loads.popleft()
        self.done = load.done
        self.lanes.load(load.done.micro, load.done.executing, load.words)

    def discard(self) -> None:
        self._rows = self._freed = 0
        self._loads.clear()


# ------------------------------------------------------------ events

def defined(rng: random.Random) -> Iterator[Event]:
    """A warp, and operations that write all registers and predicates."""
    yield warp(rng)
    for number in range(REGISTERS):
        i = Instruction(op=Op.MOV, dst=number, pdst=number if number < PREDICATES else PT)
        yield give(0, 0xFFFFFFFF, i, guard=TRUE, word=Compact(rng.getrandbits(32), rng.getrandbits(15)),
                   holds=bool(rng.getrandbits(1)))


def warp(rng: random.Random) -> Warp:
    """Any launch; local memory has a power of two of bytes."""
    block = LaunchBlock(*(rng.getrandbits(32) for _ in LaunchBlock._fields))
    limits = {name: rng.choice((0, 64, 1 << rng.randrange(2, 31), rng.getrandbits(32))) for name in BYTES}
    block = block._replace(**limits | {"local_bytes": 1 << rng.randrange(2, 20)})
    return Warp(block, np.array([[rng.getrandbits(32) for _ in range(32)] for _ in range(3)], np.uint32))


def random_events(rng: random.Random) -> Iterator[Event]:
    """Operations of changing moods, without end."""
    yield from defined(rng)
    while True:
        if rng.random() < 0.3:
            yield warp(rng)
        named, mood = pool(rng), rng.choice(list(MOODS))
        for _ in range(rng.randrange(20, 80)):
            yield random_micro(rng, mood, named)


class Recorded(NamedTuple):
    """Events of a program, and the words of its loads, in order."""

    events: list[Event]
    words: list[np.ndarray]


def record(name: str, operations: int) -> Recorded:
    """The first operations of a program of `warploom.fg_simt.programs` on the model, as it sends them."""
    engine, made = Engine(IdealMemory(image(started(name))), Affine.ABM), Recorded([], [])
    positions: np.ndarray | None = None
    while len(made.events) < operations and not engine.halted:
        queue = list(engine.issue.queue)
        engine.clock()
        is_issued = engine.issue.observe()[WHAT] == 1
        if is_issued and queue[0].unit is Unit.SGU and queue[0].loads:
            made.words.append(engine.execution.loads[-1].words)
        if len(engine.issue.queue) > len(queue) - is_issued:
            if engine.lanes.positions is not positions:
                positions = engine.lanes.positions
                made.events.append(Warp(engine.execution.block, positions))
            made.events.append(engine.issue.queue[-1])
    for _ in range(1000):  # until the last words are there
        engine.clock()
    return made


def walk(positions: np.ndarray, thread: int) -> dict[str, Any]:
    """What the walk gives in a cycle."""
    return {"valid": 1, "thread": thread,
            "point": {axis: int(values[thread]) for axis, values in zip("xyz", positions, strict=True)}}


def words_at(model: LaneModel, place: int) -> int:
    """The words at a place of the SLDQs."""
    return join(model.places[place], 32)
