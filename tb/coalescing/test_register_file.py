"""Property of the coalescing register file: what instructions wrote is what instructions read.

Nothing here knows how registers are stored. Each is an array of 32 integers; random instructions of the outside units
write and read them through the datapath's ports. The driver respects hazards as a front end does, and tells truthfully
whether a write covers all lanes that are live.
"""

import itertools
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import cocotb
import pytest

from golden_model.words import ALL_LANES, join, split
from tb import runner
from tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import TAG_BITS, WRITERS, issue_fields, result_fields
from warploom.arch.isa import NO_SLOT, Instruction, Op, Pipe, TimingClass
from warploom.arch.layout import rows_per_warp

WRITES = 10_000
REGISTERS = 16
DIRECTED = range(12, REGISTERS)
"""Registers that only directed sequences write."""

OPS = (Op.FADD, Op.FFMA, Op.LD, Op.FADD, Op.FFMA, Op.LD, Op.MUFU)
"""What instructions do is not computed here: only who answers them matters."""

LONGEST = 40
"""Cycles until the answer of a memory instruction, at most."""

Key = tuple[int, int]
"""Warp and register."""


class Shape(NamedTuple):
    """What a width detector sees in some lanes: the bytes that matter, and the sign of the others."""

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
    """Random values: of the shape in some lanes, anything in the others."""
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


@dataclass
class Register:
    """The plain array, and the lanes in which it is worth reading: written, and live ever since."""

    values: list[int]
    defined: int = 0
    last: Shape | None = None  # of the last write, if that was full
    readers: int = 0  # instructions that have not left the collectors
    writing: bool = False


@dataclass
class Flight:
    """An instruction in flight: (register, values, defined lanes) of each slot that reads, and what it writes."""

    operands: dict[int, tuple[Key, list[int], int]]
    target: Key | None
    data: list[int]


class Program:
    """A front end of random instructions and the units that answer them, at the datapath's ports.

    Registers take their new values as an instruction issues: hazards keep others away until hardware has them too.
    Directed sequences, a full write of each shape followed by a full or partial one of each, run among the others.
    """

    def __init__(self, ports: Ports, rng: random.Random, coverage: Coverage) -> None:
        self._ports, self._config, self._rng, self._coverage = ports, ports.config, rng, coverage
        self._registers = {key: Register([0] * LANES)
                           for key in itertools.product(range(self._config.warps), range(REGISTERS))}  # fmt: skip
        self._live = [ALL_LANES] * self._config.warps
        self._directed: dict[Key, deque[tuple[Shape, bool]]] = {}
        for parity in range(2):
            keys = [key for key in self._registers if key[1] in DIRECTED and key[1] % 2 == parity]
            for old, new, full in TRANSITIONS:
                self._directed.setdefault(rng.choice(keys), deque()).extend(((old, True), (new, full)))
        self._tags = itertools.cycle(range(1 << TAG_BITS))
        self._answers: dict[Pipe, list[tuple[int, dict[str, int]]]] = {
            pipe: [] for pipe in (Pipe.SP, Pipe.SFU, Pipe.MEM)
        }  # fmt: skip
        self._unread = 0  # memory instructions whose credit is still to come
        self.flights: dict[int, Flight] = {}
        self.writes = 0

    def stimuli(self) -> Iterator[Stimulus]:
        """One cycle each, until enough was written, all sequences are over, and every register was read."""
        active, credits_ = busy(self._rng, 0.9), busy(self._rng, 0.4)
        last = deque(self._registers)
        cycle = 0
        while last or self.flights:
            stimulus: dict[str, Any] = {"stride": rows_per_warp(self._config, REGISTERS)}
            if self._ports.peek("issue__ready") and next(active):
                more = self.writes < WRITES or any(self._directed.values())
                fields = self._anything() if more else self._read(last) if last else None
                if fields is not None:
                    stimulus |= {"issue__valid": 1, "issue__payload": fields}
            self._dispatched(cycle)
            stimulus |= self._results(cycle)
            if self._unread and next(credits_):
                self._unread -= 1
                stimulus["credit_mem"] = 1
            self._completed()
            if self._rng.random() < 0.02:
                self._change_live()
            yield stimulus
            cycle += 1

    # ------------------------------------------------------------------ front end

    def _anything(self) -> dict[str, int] | None:
        """The fields of the next instruction; None where a hazard forbids the one that was drawn."""
        rng = self._rng
        warp, register = rng.randrange(self._config.warps), rng.randrange(REGISTERS)
        shape, full, writes = rng.choice(SHAPES), rng.random() < 0.4, rng.random() < 0.9
        steps = self._directed.get((warp, register))
        if register in DIRECTED:
            writes = bool(steps)
        if steps:
            shape, full = steps[0]
        sources = rng.choices(range(REGISTERS), k=rng.randint(0 if writes else 1, 3))
        target = (warp, register) if writes else None
        if not self._free(warp, sources, target):
            return None
        if steps:
            steps.popleft()
        return self._issue(warp, sources, target, shape, full)

    def _read(self, keys: deque[Key]) -> dict[str, int] | None:
        """One more register is read for the last time."""
        warp, register = keys[0]
        if not self._free(warp, [register], None):
            return None
        keys.popleft()
        return self._issue(warp, [register], None, SHAPES[0], True)

    def _free(self, warp: int, sources: list[int], target: Key | None) -> bool:
        """No instruction in flight still writes what this one needs, or reads what it writes."""
        if any(self._registers[warp, register].writing for register in sources):
            return False
        return target is None or not (self._registers[target].writing or self._registers[target].readers)

    def _issue(self, warp: int, sources: list[int], target: Key | None, shape: Shape, full: bool) -> dict[str, int]:
        rng, tag, live = self._rng, next(self._tags), self._live[warp]
        assert tag not in self.flights
        instruction = Instruction(op=rng.choice(OPS))
        lanes = live if full else self._some(live)
        data = values_of(rng, shape, lanes)
        operands = {}
        for slot, register in zip(rng.sample(range(3), len(sources)), sources, strict=True):
            read = self._registers[warp, register]
            operands[slot] = (warp, register), list(read.values), read.defined
            read.readers += 1
        self.flights[tag] = Flight(operands, target, data)
        self._coverage.hit("three registers", len(set(sources)) == 3)
        if target is not None:
            self._write(self._registers[target], data, lanes, full)
        fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(self._config)}
        named = {f"src{slot}": key[1] for slot, (key, *_) in operands.items()}
        return fields | named | {
            "tag": tag, "warp": warp, "op": instruction.op, "pipe": instruction.pipe,
            "timing": instruction.timing_class, "dst": target[1] if target else 0, "writes": target is not None,
            "lanes": lanes, "full": full, "reads": sum(1 << slot for slot in operands), "imm_slot": NO_SLOT,
        }  # fmt: skip

    def _write(self, register: Register, data: list[int], lanes: int, full: bool) -> None:
        shape = shape_of(data, lanes)
        if register.last is not None:
            self._coverage.hit(transition(register.last, shape, full))
        self._coverage.hit("full write of some lanes", full and lanes != ALL_LANES)
        register.values = [data[lane] if lanes >> lane & 1 else old for lane, old in enumerate(register.values)]
        register.defined = lanes if full else register.defined | lanes
        register.last = shape if full else None
        register.writing = True
        self.writes += 1

    def _some(self, live: int) -> int:
        """Some of the lanes that are live, but not all; there are at least two."""
        lanes = self._rng.choice((self._rng.getrandbits(LANES), 1 << self._rng.randrange(LANES))) & live
        return lanes if lanes not in (0, live) else live & -live

    def _change_live(self) -> None:
        """Threads of a warp exit, or others take their place: what the lanes that are not live hold is nobody's."""
        warp = self._rng.randrange(self._config.warps)
        live = self._rng.choice((self._live[warp] & self._rng.getrandbits(LANES), ALL_LANES))
        if live.bit_count() >= 2:
            self._live[warp] = live
            for register in range(REGISTERS):
                self._registers[warp, register].defined &= live

    # ------------------------------------------------------------------ units outside

    def _dispatched(self, cycle: int) -> None:
        """Take what the dispatch port shows; its sources are free for writers."""
        if not self._ports.peek("dispatch__valid"):
            return
        codec, word = self._ports.codecs["dispatch__payload"], self._ports.peek("dispatch__payload")
        names = [name for name, _ in result_fields(self._config)]
        flight = self.flights[codec.field(word, "tag")]
        for key, _, _ in flight.operands.values():
            self._registers[key].readers -= 1
        pipe, timing = Pipe(codec.field(word, "pipe")), TimingClass(codec.field(word, "timing"))
        answer = {name: codec.field(word, name) for name in names} | {"data": join(flight.data)}
        latency = self._rng.randint(0, LONGEST) if pipe is Pipe.MEM else self._config.timing_of(timing).latency - 1
        self._unread += pipe is Pipe.MEM
        self._answers[pipe].append((cycle + latency, answer))

    def _results(self, cycle: int) -> dict[str, Any]:
        """Results of this cycle: SP in its slot, SFU in order, MEM in order of readiness; they wait for their latch."""
        ports: dict[str, Any] = {}
        self._answers[Pipe.MEM].sort(key=lambda entry: entry[0])
        self._answers[Pipe.SP].sort(key=lambda entry: entry[0])
        for pipe, answers in self._answers.items():
            writer = WRITERS[pipe]
            if answers and answers[0][0] <= cycle:
                ports |= {f"result_{writer}__valid": 1, f"result_{writer}__payload": answers[0][1]}
                if pipe is Pipe.SP or self._ports.peek(f"result_{writer}__ready"):
                    answers.pop(0)
                    if pipe is Pipe.SFU:
                        ports["credit_sfu"] = 1
        return ports

    def _completed(self) -> None:
        """Registers that were written in this cycle are free in the next one."""
        for writer in WRITERS:
            if self._ports.peek(f"done_{writer}__valid"):
                word = self._ports.peek(f"done_{writer}__payload")
                flight = self.flights.pop(self._ports.codecs[f"done_{writer}__payload"].field(word, "tag"))
                if flight.target is not None:
                    self._registers[flight.target].writing = False


class OperandCheck:
    """Every operand at the dispatch port holds what was written last."""

    def __init__(self, ports: Ports, program: Program, checker: Checker) -> None:
        self._codec, self._program, self._checker = ports.codecs["dispatch__payload"], program, checker

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        if not seen["dispatch__valid"]:
            return
        word = seen["dispatch__payload"]
        flight = self._program.flights[self._codec.field(word, "tag")]
        for slot, (key, values, defined) in flight.operands.items():
            actual = split(self._codec.field(word, "abc"[slot]))
            for lane in range(LANES):
                if defined >> lane & 1:
                    self._checker.equal(f"register {key[1]} of warp {key[0]}, lane {lane}", actual[lane], values[lane])


@cocotb.test()
async def writes_and_reads(dut: cocotb.handle.SimHandleBase) -> None:
    """Random writes and reads, and every transition from one stored form to another."""
    ports, checker = Ports(dut), Checker(minimum=20 * WRITES)
    coverage = Coverage("three registers", "full write of some lanes",
                        *(transition(*point) for point in TRANSITIONS))  # fmt: skip
    program = Program(ports, source(), coverage)
    await exercise(ports, program.stimuli(), OperandCheck(ports, program, checker), checker)
    checker.holds("enough was written", program.writes >= WRITES)
    checker.finish()
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [["alignment=reg", "layout=wshift"], ["alignment=write", "layout=wid"]],
                         ids=" ".join)  # fmt: skip
def test_register_file(settings: list[str]) -> None:
    config = SmConfig.preset("small").with_settings(["coalescing=on", *settings])
    runner.run(runner.build(config, "Datapath"), "tb.coalescing.test_register_file", 1)
