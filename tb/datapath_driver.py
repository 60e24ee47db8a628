"""The environment of the datapath in a random test: a front end with random instructions, and the units outside.

With windows the instructions come in clusters of few warps and few registers, and obey their hints; sometimes another
warp takes a slot.
"""

import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from itertools import chain
from typing import Any

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import TAG_BITS, hint_fields, issue_fields, issue_names
from warploom.arch.isa import NO_SLOT, Instruction, Op, TimingClass
from warploom.arch.layout import powered_rows, rows_per_warp
from warploom.golden_model.words import ALL_LANES
from warploom.tb import claims
from warploom.tb.bench import Ports, Stimulus, busy
from warploom.tb.bypass.promises import Promises, Register, sources
from warploom.tb.lane_driver import OPS, encoded, modifiers, operand, timing
from warploom.tb.outside_units import SILENT, OutsideUnits
from warploom.tb.pipes import pipe_of
from warploom.tb.renaming.driver import Lives

Issues = list[dict[str, int] | None]
"""By issue input, the fields of an instruction."""

REGISTERS, ROWLESS = 24, 4
"""Registers of a thread, and how many of them have no row, if there are such."""

DRAIN = 80
"""Cycles in which everything in flight completes."""

OUTSIDE = tuple(Instruction(op=op) for op in (Op.FADD, Op.FMAX, Op.FFMA, Op.MUFU, Op.DADD, Op.LATCH, Op.LD, Op.ST))
"""Operations that units outside the datapath execute."""

RECENT = 5
"""Number of registers of a warp that its instructions name repeatedly, with windows."""


def rows(config: SmConfig) -> int:
    """The number of registers of a thread that have a row."""
    return REGISTERS - ROWLESS if config.has_unallocated else REGISTERS


class InFlight:
    """The registers that the instructions in flight read, until dispatch, and write, until completion; by tag. With
    windows no instruction waits for reads, but the first one of a warp waits for everything in its slot. With renaming
    an instruction with the last read of a register waits as one that writes it does."""

    def __init__(self, config: SmConfig) -> None:
        self._has_window = config.has_window
        self._read: dict[int, set[Register]] = {}
        self._written: dict[int, Register] = {}
        self._warps: dict[int, int] = {}
        self._by_warp: Counter[int] = Counter()

    def hinders(self, fields: dict[str, int]) -> bool:
        """Whether an older instruction writes a register that this one reads or writes, or reads one that this one
        writes."""
        written = self._written.values()
        if not sources(fields).isdisjoint(written):
            return True
        target = fields["warp"], fields["dst"]
        if fields["writes"] and target in written:
            return True
        if self._has_window:
            return bool(fields["first"] and self._by_warp[fields["warp"]])
        changed = ({target} if fields["writes"] else set()) | sources(fields, fields.get("last", 0))
        return not changed.isdisjoint(chain.from_iterable(self._read.values()))

    def has(self, warp: int) -> bool:
        """Whether an instruction of a warp is in flight."""
        return self._by_warp[warp] > 0

    def issued(self, fields: dict[str, int]) -> None:
        """The instruction enters."""
        tag = fields["tag"]
        self._read[tag], self._warps[tag] = sources(fields), fields["warp"]
        self._by_warp[fields["warp"]] += 1
        if fields["writes"]:
            self._written[tag] = fields["warp"], fields["dst"]

    def dispatched(self, tag: int, *, silent: bool) -> None:
        """It has all its operands; one without a result is finished."""
        del self._read[tag]
        if silent:
            self.done(tag)

    def done(self, tag: int) -> None:
        """It has written its register, if any. The checker reports a tag that is not in flight."""
        self._written.pop(tag, None)
        if tag in self._warps:
            self._by_warp[self._warps.pop(tag)] -= 1


class Surroundings:
    """Drives the ports of the datapath from its outputs alone.

    First every register of every warp is written; then random instructions issue as soon as hazards and free entries
    allow it; then everything drains. `expected` is the number of completions of the issued instructions.
    """

    def __init__(self, ports: Ports, rng: random.Random, instructions: int) -> None:
        self._ports, self._config, self._rng, self._count = ports, ports.config, rng, instructions
        self._units = OutsideUnits(ports, rng)
        self._in_flight = InFlight(ports.config)
        self._has_window, self._promises = ports.config.has_window, Promises(ports.config)
        self._absent: defaultdict[Register, int] = defaultdict(int)  # lanes that a new warp has not written
        self._lives = Lives(ports.config, rng) if ports.config.renames else None
        self._warps = list(range(ports.config.issue_ports))  # of the last random instruction of each issue port
        self._recent: defaultdict[int, deque[int]] = defaultdict(lambda: deque([0], maxlen=RECENT))  # by warp
        self._tags = iter(range(1 << 62))
        self.expected = 0

    def stimuli(self) -> Iterator[Stimulus]:
        """One cycle each."""
        streams, cycle, left = [self._instructions(port) for port in range(self._config.issue_ports)], 0, DRAIN
        per_port = self._config.issue_per_warp
        active = [busy(self._rng, 0.9) for _ in range(self._config.issue_inputs)]
        coming = [[next(stream) for _ in range(per_port)] for stream in streams]  # the next instructions of each port
        while left:
            self._dispatched(cycle)
            fields = [one for following in coming for one in self._offered(following)]
            issuing = [one if one is not None and next(may) and self._may_issue(one) else None
                       for one, may in zip(fields, active, strict=True)]
            self._completed()
            first = self._rng.randrange(len(streams))
            issuing = self._without_lone_seconds(issuing, first)
            taken, over = self._taken(issuing, first), not any(one for following in coming for one in following)
            yield {**self._launch(), **self._shown(fields, issuing, first),
                   **self._units.answers(cycle), **self._beside(cycle, issuing, over=over),
                   **(self._lives.events() if self._lives is not None else {})}
            for number, one in enumerate(taken):
                if one is not None:
                    self._issued(one)
                    following = coming[number // per_port]
                    if one is following[0]:
                        following[:] = [*following[1:], next(streams[number // per_port])]
            left -= over and not self._units.has_results
            cycle += 1

    def _launch(self) -> dict[str, int]:
        """The static inputs."""
        registers = rows(self._config)
        counted = {"registers": registers} if "registers" in self._ports.inputs else {}
        powered = {"powered": powered_rows(self._config, registers, self._config.warps)} if self._config.renames else {}
        return {"stride": rows_per_warp(self._config, registers), **counted, **powered}

    def _offered(self, following: Issues) -> Issues:
        """What a port offers of its next instructions: the first, and with pairs the second if they may be one."""
        one, *others = following
        first = None if one is None else self._before(one)
        seconds = [None if one is None or first is not one or other is None else self._before(other)
                   for other in others]
        return [first, *(second if first and second and self._may_pair(first, second) else None for second in seconds)]

    def _may_pair(self, first: dict[str, int], second: dict[str, int]) -> bool:
        """Whether two instructions may be a pair (docs/contract/front_end.md); their lanes do not matter here."""
        if first["warp"] != second["warp"] or {first["pipe"], second["pipe"]} == {len(self._config.pipes) - 1}:
            return False
        target, other = ((fields["warp"], fields["dst"]) if fields["writes"] else None for fields in (first, second))
        return not (target in sources(second) or other in self._sources(first) or (target and target == other))

    def _without_lone_seconds(self, issuing: Issues, first: int) -> Issues:
        """The instructions at the issue inputs without the second of a pair whose first is not taken."""
        taken, per_port = self._taken(issuing, first), self._config.issue_per_warp
        return [one if taken[number - number % per_port] else None if number % per_port else one
                for number, one in enumerate(issuing)]

    def _shown(self, fields: Issues, issuing: Issues, first: int) -> dict[str, Any]:
        """The issue inputs."""
        names = list(enumerate(issue_names(self._config)))
        return {**{f"{name}__valid": issuing[port] is not None for port, name in names},
                **{f"{name}__payload": fields[port] or {} for port, name in names},
                **({"first_port": first} if "first_port" in self._ports.inputs else {})}

    def _before(self, fields: dict[str, int]) -> dict[str, int]:
        """The instruction that issues next: the planned one, or one that must issue before it."""
        return fields

    def _beside(self, cycle: int, issuing: Issues, *, over: bool) -> dict[str, Any]:
        """Further inputs of the cycle; `issuing` are on the issue ports, and `over` says that no instruction is left.
        """
        return {}

    def _taken(self, issuing: Issues, first: int) -> Issues:
        """The instructions at the issue inputs that are taken: in claim order, while collectors are free."""
        claiming = [None if one is None or self._is_apart(one) else one for one in issuing]
        taken = claims.granted(self._config, self._free_collectors(), claiming, first)
        for number, one in enumerate(issuing):
            if one is not None and claiming[number] is None:
                taken[number] = bool(self._ports.peek("address_ready") >> number // self._config.issue_per_warp & 1)
        return [one if is_taken else None for one, is_taken in zip(issuing, taken, strict=True)]

    def _free_collectors(self) -> list[int]:
        """The number of free collectors of each set, at most one for each input; with windows each instruction has
        one."""
        if self._config.shows_claims:
            return claims.free_of(self._config, self._ports.peek("free_collectors"))
        return [self._ports.peek("issue__ready") if self._config.issue_ports == 1 else self._config.issue_ports]

    def _is_apart(self, fields: dict[str, int]) -> bool:
        """Whether an instruction needs no collector."""
        return False

    def _issued(self, fields: dict[str, int]) -> None:
        self.expected += fields["op"] not in SILENT
        self._in_flight.issued(fields)

    def _sources(self, fields: dict[str, int]) -> set[Register]:
        """The registers that the instruction reads in the register file."""
        return sources(fields)

    def _may_issue(self, fields: dict[str, int]) -> bool:
        if self._in_flight.hinders(fields):
            return False
        if self._lives is not None:
            return not self._lives.hinders(fields, runs=self._in_flight.has(fields["warp"]),
                                           sweeping=self._ports.peek("sweeping"))
        if not self._has_window:
            return True
        free = self._ports.codecs["free_entries"].field(self._ports.peek("free_entries"), str(fields["warp"]))
        return free > len(self._sources(fields))

    def _instructions(self, port: int) -> Iterator[dict[str, int] | None]:
        """Fields of an issue port, of the warps that it serves; `None` at the end."""
        again = range(self._config.window if self._has_window else 0)  # the others leave the collector for the file
        hints = dict.fromkeys((name for name, _ in hint_fields(self._config)), 1)
        ports = self._config.issue_ports
        for warp in range(port, self._config.warps, ports):
            for number, register in enumerate([*range(REGISTERS), *again]):
                fields = self._fields(next(self._tags), Op.MOV, warp) | {
                    "dst": register, "writes": 1, "reads": 0, "imm_slot": 0, "lanes": ALL_LANES, "full": 1, **hints,
                }
                if "aside" in fields:
                    fields["aside"] = 0  # it counts in the window
                yield self._with_window(fields, first=number == 0)
        for _ in range(self._count // ports):
            op = self._rng.choice(OPS + 3 * [instruction.op for instruction in OUTSIDE])
            fields = self._fields(next(self._tags), op, self._draw_warp(port))
            yield self._with_window(fields, first=self._rng.random() < 0.01)
        while True:
            yield None

    def _draw_warp(self, port: int) -> int:
        if not (self._has_window or self._config.has_pairs) or self._rng.random() < 0.3:
            self._warps[port] = self._rng.randrange(port, self._config.warps, self._config.issue_ports)
        return self._warps[port]

    def _with_window(self, fields: dict[str, int], *, first: bool) -> dict[str, int]:
        """With windows: whether the warp is new, few registers, and none that is lost. With renaming see `Lives`."""
        if self._lives is not None:
            return self._lives.plan(fields)
        if not self._has_window:
            return fields
        rng, warp, recent = self._rng, fields["warp"], self._recent[fields["warp"]]
        fields["first"] = int(first)
        if first and self._config.writes_back:  # what the previous warp wrote may never have come to the register file
            self._absent |= {(warp, register): ALL_LANES for register in range(REGISTERS)}
        for name in ("src0", "src1", "src2", "dst"):
            if fields["reads"] and rng.random() < 0.7:
                fields[name] = rng.choice(recent)
        for slot in range(3):
            source = warp, fields[f"src{slot}"]
            if (self._promises.lost(*source) | self._absent[source]) & fields["lanes"]:
                fields["reads"] &= ~(1 << slot)
        if fields["writes"]:
            self._absent[warp, fields["dst"]] &= ~fields["lanes"]
        if fields["writes"] and fields["dst"] not in recent:
            recent.append(fields["dst"])
        if self._config.has_unallocated:
            self._promises.without_rows(fields, rows(self._config))
        self._promises.issued(fields)
        return fields

    def _fields(self, tag: int, op: Op, warp: int) -> dict[str, int]:
        rng = self._rng
        instruction = Instruction(op=op)
        integer = op <= Op.SEL
        timing_class = TimingClass(timing(op)) if integer else instruction.timing_class
        fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(self._config)}
        reads = rng.getrandbits(3)
        lanes = rng.choice((ALL_LANES, rng.getrandbits(LANES)))
        few = rng.sample(range(REGISTERS), rng.randint(1, 4))
        constants = [slot for slot in range(3) if not reads >> slot & 1 and op is not Op.LD]
        return fields | {
            "tag": tag % (1 << TAG_BITS), "warp": warp, "op": op,
            "modifiers": encoded(op, modifiers(rng, op)) if integer else fields["modifiers"],
            "pipe": pipe_of(rng, self._config, timing_class, warp), "timing": timing_class,
            "dst": rng.randrange(REGISTERS), "writes": op not in SILENT and rng.random() < 0.85, "reads": reads,
            "lanes": lanes, "full": lanes == ALL_LANES,
            **{f"src{slot}": rng.choice(few) for slot in range(3)}, "imm": operand(rng),
            "imm_slot": rng.choice([NO_SLOT, *constants]),
        }

    def _dispatched(self, cycle: int) -> None:
        """Take the instructions at the dispatch ports in this cycle."""
        for port in self._config.dispatch_ports:
            if self._ports.peek(f"{port}__valid"):
                sent = self._ports.codecs[f"{port}__payload"].unpack(self._ports.peek(f"{port}__payload"))
                self._in_flight.dispatched(sent["tag"], silent=sent["op"] in SILENT)
                self._units.sent(cycle, sent)

    def _completed(self) -> None:
        """Take the completions of this cycle, whose registers are written at its end."""
        for writer in self._config.writers:
            if self._ports.peek(f"done_{writer}__valid"):
                payload = f"done_{writer}__payload"
                self._in_flight.done(self._ports.codecs[payload].field(self._ports.peek(payload), "tag"))
