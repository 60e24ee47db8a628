"""What surrounds the datapath in a random test: a front end that issues anything, and units that answer anything."""

import random
from collections import deque
from collections.abc import Iterator
from typing import Any

from golden_model.words import ALL_LANES
from tb.bench import Ports, Stimulus, busy
from tb.coalescing.values import narrow_word
from tb.lane_driver import OPS, encoded, modifiers, operand, timing
from warploom.arch.config import LANES
from warploom.arch.interfaces import TAG_BITS, WRITERS, issue_fields, result_fields
from warploom.arch.isa import NO_SLOT, Instruction, Op, Pipe, TimingClass
from warploom.arch.layout import rows_per_warp

REGISTERS = 24
DRAIN = 80
"""Cycles in which everything in flight comes to its end."""

BURST = 64
"""SFU and MEM answer in cycles from a multiple of this on, so that their results queue up behind each other."""

OUTSIDE = tuple(Instruction(op=op) for op in (Op.FADD, Op.FMAX, Op.FFMA, Op.MUFU, Op.DADD, Op.LATCH, Op.LD, Op.ST))
SILENT = (Op.ST, Op.LATCH)
"""Operations without a result."""


Register = tuple[int, int]
"""Warp slot and register number."""


class InFlight:
    """The registers that the instructions in flight read, until dispatch, and write, until completion; by tag."""

    def __init__(self) -> None:
        self._read: dict[int, set[Register]] = {}
        self._written: dict[int, Register] = {}

    def hinders(self, fields: dict[str, int]) -> bool:
        """An older instruction writes a register that this one reads or writes, or reads one that it writes."""
        written = self._written.values()
        if not _sources(fields).isdisjoint(written):
            return True
        target = fields["warp"], fields["dst"]
        return fields["writes"] and (target in written or any(target in read for read in self._read.values()))

    def issued(self, fields: dict[str, int]) -> None:
        """The instruction enters."""
        self._read[fields["tag"]] = _sources(fields)
        if fields["writes"]:
            self._written[fields["tag"]] = fields["warp"], fields["dst"]

    def dispatched(self, tag: int) -> None:
        """It has all its operands."""
        del self._read[tag]

    def done(self, tag: int) -> None:
        """It has written its register, if any."""
        self._written.pop(tag, None)


def _sources(fields: dict[str, int]) -> set[Register]:
    return {(fields["warp"], fields[f"src{slot}"]) for slot in range(3) if fields["reads"] >> slot & 1}


class Surroundings:
    """Drives the ports of the datapath from what its outputs show; knows nothing of its inside.

    First every register of every warp is written, then random instructions issue as soon as no hazard hinders them,
    then everything drains. Narrow values are frequent. `expected` is the number of completions that the issued
    instructions owe.
    """

    def __init__(self, ports: Ports, rng: random.Random, instructions: int) -> None:
        self._ports, self._config, self._rng, self._count = ports, ports.config, rng, instructions
        self._sp: dict[int, dict[str, int]] = {}
        self._sfu: deque[tuple[int, dict[str, int] | None]] = deque()
        self._mem: list[tuple[int, dict[str, int] | None]] = []
        self._mem_offer: dict[str, int] | None = None
        self._unread = 0  # memory instructions whose credit is still to come
        self._credits = busy(rng, 0.4)
        self._in_flight = InFlight()
        self.expected = 0

    def stimuli(self) -> Iterator[Stimulus]:
        """One cycle each."""
        issue, cycle, left = self._instructions(), 0, DRAIN
        active, offered = busy(self._rng, 0.9), next(issue)
        while left:
            self._dispatched(cycle)
            valid = offered is not None and next(active) and not self._in_flight.hinders(offered)
            self._completed()
            taken = valid and self._ports.peek("issue__ready")
            yield {"stride": rows_per_warp(self._config, REGISTERS), "issue__valid": valid,
                   "issue__payload": offered or {}, **self._answers(cycle)}  # fmt: skip
            if taken:
                self.expected += offered["op"] not in SILENT
                self._in_flight.issued(offered)
                offered = next(issue)
            left -= offered is None and not (self._sp or self._sfu or self._mem or self._mem_offer)
            cycle += 1

    def _instructions(self) -> Iterator[dict[str, int] | None]:
        """Fields of the issue port; `None` in a pause, and at the end."""
        tags = iter(range(1 << 62))
        for warp in range(self._config.warps):
            for register in range(REGISTERS):
                yield self._fields(next(tags), Op.MOV) | {
                    "warp": warp, "dst": register, "writes": 1, "reads": 0, "imm_slot": 0, "lanes": ALL_LANES,
                    "full": 1,
                }  # fmt: skip
        for _ in range(self._count):
            yield self._fields(next(tags), self._rng.choice(OPS + 3 * [instruction.op for instruction in OUTSIDE]))
        while True:
            yield None

    def _fields(self, tag: int, op: Op) -> dict[str, int]:
        rng = self._rng
        instruction = Instruction(op=op)
        integer = op <= Op.SEL
        fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(self._config)}
        reads = rng.getrandbits(3)
        lanes = rng.choice((ALL_LANES, rng.getrandbits(LANES)))
        few = rng.sample(range(REGISTERS), rng.randint(1, 4))
        return fields | {
            "tag": tag % (1 << TAG_BITS), "warp": rng.randrange(self._config.warps), "op": op,
            "modifiers": encoded(op, modifiers(rng, op)) if integer else fields["modifiers"],
            "pipe": instruction.pipe, "timing": timing(op) if integer else instruction.timing_class,
            "dst": rng.randrange(REGISTERS), "writes": op not in SILENT and rng.random() < 0.85, "reads": reads,
            "lanes": lanes, "full": lanes == ALL_LANES,
            **{f"src{slot}": rng.choice(few) for slot in range(3)}, "imm": operand(rng),
            "imm_slot": rng.choice([slot for slot in range(3) if not reads >> slot & 1] + [NO_SLOT]),
        }  # fmt: skip

    def _dispatched(self, cycle: int) -> None:
        """Take what the dispatch port shows in this cycle."""
        if not self._ports.peek("dispatch__valid"):
            return
        sent: Any = self._ports.codecs["dispatch__payload"].unpack(self._ports.peek("dispatch__payload"))
        self._in_flight.dispatched(sent["tag"])
        if sent["op"] <= Op.SEL:
            return
        answer = {name: sent[name] for name, _ in result_fields(self._config)}
        answer |= {"pred": self._rng.getrandbits(LANES), "data": narrow_word(self._rng, sent["lanes"])}
        due = cycle - 1 + self._config.timing_of(TimingClass(sent["timing"])).latency
        burst = -(-due // BURST) * BURST
        if sent["pipe"] == Pipe.SP:
            self._sp[due] = answer
        elif sent["pipe"] == Pipe.SFU:
            self._sfu.append((burst, None if sent["op"] in SILENT else answer))
        else:
            self._unread += 1
            if sent["op"] not in SILENT:
                self._mem.append((burst, answer))

    def _completed(self) -> None:
        """Take the completions of this cycle, whose registers are written at its end."""
        for writer in WRITERS:
            if self._ports.peek(f"done_{writer}__valid"):
                payload = f"done_{writer}__payload"
                self._in_flight.done(self._ports.codecs[payload].field(self._ports.peek(payload), "tag"))

    def _answers(self, cycle: int) -> dict[str, Any]:
        """Results and credits of this cycle. A result stays on its port until it is taken."""
        ports: dict[str, Any] = {}
        if (sp := self._sp.pop(cycle, None)) is not None:
            ports |= {"result_sp__valid": 1, "result_sp__payload": sp}
        if self._sfu and self._sfu[0][0] <= cycle:
            answer = self._sfu[0][1]
            if answer is not None:
                ports |= {"result_sfu__valid": 1, "result_sfu__payload": answer}
            if answer is None or self._ports.peek("result_sfu__ready"):
                self._sfu.popleft()
                ports["credit_sfu"] = 1
        if self._mem_offer is None:
            due = [entry for entry in self._mem if entry[0] <= cycle]
            if due:
                self._mem.remove(due[0])
                self._mem_offer = due[0][1]
        if self._mem_offer is not None:
            ports |= {"result_mem__valid": 1, "result_mem__payload": self._mem_offer}
            if self._ports.peek("result_mem__ready"):
                self._mem_offer = None
        if self._unread and next(self._credits):
            self._unread -= 1
            ports["credit_mem"] = 1
        return ports
