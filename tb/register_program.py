"""A property of every register file: instructions read what instructions wrote.

The test does not depend on stored forms. Each register is an array of 32 integers; random instructions of the outside
units write and read them through the datapath's ports. The driver respects hazards like a front end, and sets `full` if
a write covers all live lanes, and with hints `to_file` = 0 if a value may be lost.
"""

import itertools
import random
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from warploom.arch.config import LANES, SmConfig
from warploom.arch.encoding import encode_modifiers
from warploom.arch.interfaces import TAG_BITS, issue_fields, result_fields
from warploom.arch.isa import NO_SLOT, Instruction, Op, Pipe, TimingClass
from warploom.arch.layout import rows_per_warp
from warploom.golden_model.words import ALL_LANES, join, split
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy
from warploom.tb.bypass.promises import Promises
from warploom.tb.codec import Codec
from warploom.tb.pipes import pipe_of

WRITES = 10_000
REGISTERS = 16

OPS = (Op.FADD, Op.FFMA, Op.LD, Op.FADD, Op.FFMA, Op.LD, Op.MUFU)
"""The operations are not computed here: only the pipe that returns the result matters."""

NEW_WARP = "a warp that is new in its slot"

LONGEST = 40
"""Maximum cycles until the result of a memory instruction."""

Key = tuple[int, int]
"""Warp and register."""


def points(config: SmConfig) -> list[str]:
    """Coverage points of every program."""
    return ["three registers", "full write of some lanes", *([NEW_WARP] if config.has_window else [])]


class Draft(NamedTuple):
    """A planned write: whether it covers all live lanes, and the values for its lanes."""

    full: bool
    values: Callable[[int], list[int]]


@dataclass
class Register:
    """The plain array, and its defined lanes: written, and live since then."""

    values: list[int]
    defined: int = 0
    readers: int = 0  # instructions that have not left the collectors
    writing: bool = False


@dataclass
class Flight:
    """An instruction in flight: its warp, (register, values, defined lanes) of each slot that reads, the register that
    it writes, and the executing lanes."""

    warp: int
    op: Op
    operands: dict[int, tuple[Key, list[int], int]]
    target: Key | None
    data: list[int]
    lanes: int


class Program(ABC):
    """A front end of random instructions, and the outside units, at the datapath's ports.

    Registers get their new values when an instruction issues: hazards prevent other accesses until hardware has them,
    too. Subclasses define what is written.
    """

    def __init__(self, ports: Ports, rng: random.Random, coverage: Coverage) -> None:
        self._ports, self._config, self._rng, self._coverage = ports, ports.config, rng, coverage
        self._registers = {key: Register([0] * LANES)
                           for key in itertools.product(range(self._config.warps), range(REGISTERS))}
        self._live = [ALL_LANES] * self._config.warps
        self._has_window, self._promises = self._config.has_window, Promises(self._config)
        self._warp = 0  # of the last draw
        self._new = set(range(self._config.warps))  # slots whose next instruction is the first of another warp
        self._in_flight: Counter[int] = Counter()  # by warp
        self._tags = itertools.cycle(range(1 << TAG_BITS))
        self._answers: dict[int, list[tuple[int, dict[str, int]]]] = {
            number: [] for number in range(len(self._config.pipes))
        }
        self._unread = 0  # memory instructions whose credit has not been returned
        self.flights: dict[int, Flight] = {}
        self.writes = 0

    @property
    def complete(self) -> bool:
        """Enough was written."""
        return self.writes >= WRITES

    @abstractmethod
    def _draft(self, key: Key) -> Draft | None:
        """The next instruction's write of a register, if no hazard forbids it; None if it only reads."""

    def _write(self, key: Key, data: list[int], lanes: int, full: bool) -> None:
        """The register takes values in some lanes."""
        register = self._registers[key]
        self._coverage.hit("full write of some lanes", full and lanes != ALL_LANES)
        register.values = [data[lane] if lanes >> lane & 1 else old for lane, old in enumerate(register.values)]
        register.defined = lanes if full else register.defined | lanes
        register.writing = True
        self.writes += 1

    def _answer(self, flight: Flight, payload: int) -> list[int]:
        """The result of a unit outside for an instruction at the dispatch port."""
        return flight.data

    def _some(self, live: int) -> int:
        """Some of the live lanes, but not all; at least two lanes are live."""
        lanes = self._rng.choice((self._rng.getrandbits(LANES), 1 << self._rng.randrange(LANES))) & live
        return lanes if lanes not in (0, live) else live & -live

    def stimuli(self) -> Iterator[Stimulus]:
        """One cycle each, until everything was written, and every register was read."""
        active, credits_ = busy(self._rng, 0.9), busy(self._rng, 0.4)
        last = deque(self._registers)
        cycle = 0
        while last or self.flights:
            stimulus: dict[str, Any] = {"stride": rows_per_warp(self._config, REGISTERS)}
            if self._ports.peek("issue__ready") and next(active):
                fields = self._anything() if not self.complete else self._read(last) if last else None
                if fields is not None:
                    stimulus |= {"issue__valid": 1, "issue__payload": fields}
            self._dispatched(cycle)
            stimulus |= self._results(cycle)
            if self._unread and next(credits_):
                self._unread -= 1
                stimulus[f"credit_{self._config.writers[-1]}"] = 1
            self._completed()
            if self._rng.random() < 0.02:
                self._change_live()
            if self._has_window and not self.complete and self._rng.random() < 0.003:
                self._new.add(self._rng.randrange(self._config.warps))
            yield stimulus
            cycle += 1

    # ------------------------------------------------------------------ front end

    def _anything(self) -> dict[str, int] | None:
        """The fields of the next instruction; None if a hazard forbids the one that was drawn."""
        rng, warp = self._rng, self._draw_warp()
        key = warp, rng.randrange(REGISTERS)
        draft = self._draft(key)
        sources = [register for register in rng.choices(range(REGISTERS), k=rng.randint(0 if draft else 1, 3))
                   if not self._promises.lost(warp, register) & self._live[warp]]
        if not (draft or sources):
            return None
        target = key if draft else None
        return self._issue(warp, sources, target, draft) if self._free(warp, sources, target) else None

    def _draw_warp(self) -> int:
        """Any warp; with windows often the previous one, since only close instructions share a window."""
        if not self._has_window or self._rng.random() < 0.3:
            self._warp = self._rng.randrange(self._config.warps)
        return self._warp

    def _read(self, keys: deque[Key]) -> dict[str, int] | None:
        """Read one more register for the last time, in lanes that are not lost."""
        warp, register = keys[0]
        if not self._free(warp, [register], None):
            return None
        keys.popleft()
        kept = self._live[warp] & ~self._promises.lost(warp, register)
        return self._issue(warp, [register], None, None, kept) if kept else None

    def _free(self, warp: int, sources: list[int], target: Key | None) -> bool:
        """No instruction in flight will write a register that this one needs or, without windows, will read one that it
        writes. With windows there are free entries, and no instruction of the slot's previous warp is in flight."""
        if any(self._registers[warp, register].writing for register in sources):
            return False
        written = None if target is None else self._registers[target]
        if not self._has_window:
            return written is None or not (written.writing or written.readers)
        if (written is not None and written.writing) or (warp in self._new and self._in_flight[warp]):
            return False
        return self._ports.codecs["free_entries"].field(self._ports.peek("free_entries"), str(warp)) > len(set(sources))

    def _issue(
        self, warp: int, sources: list[int], target: Key | None, draft: Draft | None, lanes: int | None = None
    ) -> dict[str, int]:
        """`lanes` are those of the draft unless they are given."""
        rng, tag, live = self._rng, next(self._tags), self._live[warp]
        assert tag not in self.flights
        first = self._first(warp)
        instruction = Instruction(op=rng.choice(OPS))
        full = draft is None or draft.full
        if lanes is None:
            lanes = live if full else self._some(live)
        data = [0] * LANES if draft is None else draft.values(lanes)
        operands = {}
        for slot, register in zip(rng.sample(range(3), len(sources)), sources, strict=True):
            read = self._registers[warp, register]
            operands[slot] = (warp, register), list(read.values), read.defined & lanes
            read.readers += 1
        self.flights[tag] = Flight(warp, instruction.op, operands, target, data, lanes)
        self._in_flight[warp] += 1
        self._coverage.hit("three registers", len(set(sources)) == 3)
        if target is not None:
            self._write(target, data, lanes, full)
        fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(self._config)}
        named = {f"src{slot}": key[1] for slot, (key, *_) in operands.items()}
        fields |= named | first | {
            "tag": tag, "warp": warp, "op": instruction.op, "modifiers": encode_modifiers(instruction),
            "pipe": pipe_of(rng, self._config, instruction.timing_class, warp), "timing": instruction.timing_class,
            "dst": target[1] if target else 0, "writes": target is not None, "lanes": lanes, "full": full,
            "reads": sum(1 << slot for slot in operands), "imm_slot": NO_SLOT,
        }
        if self._has_window:
            for key in self._promises.issued(fields):
                self._registers[key].defined &= ~self._promises.lost(*key)
        return fields

    def _first(self, warp: int) -> dict[str, int]:
        """The field that marks a new warp, for which the registers of the previous one are undefined."""
        if not self._has_window:
            return {}
        if warp not in self._new:
            return {"first": 0}
        self._new.discard(warp)
        self._coverage.hit(NEW_WARP)
        for register in range(REGISTERS):
            self._registers[warp, register].defined = 0
        return {"first": 1}

    def _change_live(self) -> None:
        """Threads of a warp exit, or others replace them: lanes that are not live are undefined."""
        warp = self._rng.randrange(self._config.warps)
        live = self._rng.choice((self._live[warp] & self._rng.getrandbits(LANES), ALL_LANES))
        if live.bit_count() >= 2:
            self._live[warp] = live
            for register in range(REGISTERS):
                self._registers[warp, register].defined &= live

    # ------------------------------------------------------------------ units outside

    def _dispatched(self, cycle: int) -> None:
        """Take the instructions at the dispatch ports; their sources may be written again."""
        for port in self._config.dispatch_ports:
            if self._ports.peek(f"{port}__valid"):
                self._sent(cycle, self._ports.codecs[f"{port}__payload"], self._ports.peek(f"{port}__payload"))

    def _sent(self, cycle: int, codec: Codec, word: int) -> None:
        """An instruction leaves the collectors."""
        flight = self.flights[codec.field(word, "tag")]
        for key, _, _ in flight.operands.values():
            self._registers[key].readers -= 1
        answer = {name: codec.field(word, name) for name, _ in result_fields(self._config)}
        answer["data"] = join(self._answer(flight, word))
        number, timing = codec.field(word, "pipe"), TimingClass(codec.field(word, "timing"))
        pipe = self._config.timed_pipes[number]
        is_memory = pipe.kind is Pipe.MEM
        latency = self._rng.randint(0, LONGEST) if is_memory else pipe.timing_of(timing).latency - 1
        self._unread += is_memory
        self._answers[number].append((cycle + latency, answer))

    def _results(self, cycle: int) -> dict[str, Any]:
        """Results of this cycle: SP in its slot, SFU in order, MEM in the order of completion; they wait for their
        latch."""
        ports: dict[str, Any] = {}
        for number, answers in self._answers.items():
            pipe = self._config.pipes[number]
            writer = pipe.name
            if pipe.kind is not Pipe.SFU:
                answers.sort(key=lambda entry: entry[0])
            if answers and answers[0][0] <= cycle:
                ports |= {f"result_{writer}__valid": 1, f"result_{writer}__payload": answers[0][1]}
                if pipe.kind is Pipe.SP or self._ports.peek(f"result_{writer}__ready"):
                    answers.pop(0)
                    if pipe.kind is Pipe.SFU:
                        ports[f"credit_{writer}"] = 1
        return ports

    def _completed(self) -> None:
        """Registers that were written in this cycle are free in the next one."""
        for writer in self._config.writers:
            if self._ports.peek(f"done_{writer}__valid"):
                word = self._ports.peek(f"done_{writer}__payload")
                flight = self.flights.pop(self._ports.codecs[f"done_{writer}__payload"].field(word, "tag"))
                self._in_flight[flight.warp] -= 1
                if flight.target is not None:
                    self._registers[flight.target].writing = False


class OperandCheck:
    """Every operand at the dispatch port has the value that was written last."""

    def __init__(self, ports: Ports, program: Program, checker: Checker) -> None:
        self._codecs, self._program, self._checker = ports.codecs, program, checker
        self._dispatch_ports = tuple(ports.config.dispatch_ports)

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        for port in self._dispatch_ports:
            if seen[f"{port}__valid"]:
                self._sent(self._codecs[f"{port}__payload"], seen[f"{port}__payload"])

    def _sent(self, codec: Codec, word: int) -> None:
        flight = self._program.flights[codec.field(word, "tag")]
        for slot, (key, values, defined) in flight.operands.items():
            actual = split(codec.field(word, "abc"[slot]))
            for lane in range(LANES):
                if defined >> lane & 1:
                    self._checker.equal(f"register {key[1]} of warp {key[0]}, lane {lane}", actual[lane], values[lane])
