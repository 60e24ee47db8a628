"""The environment of one warp's collector: a random front end, pipes, write latches and a register file, all legal."""

import random
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS, issue_fields
from warploom.arch.isa import NO_SLOT
from warploom.arch.mechanisms import Alignment
from warploom.golden_model.bypass.collector import BypassingCollector
from warploom.golden_model.records import StoredFields
from warploom.golden_model.register_file.width import Encoding
from warploom.golden_model.words import ALL_LANES, merge
from warploom.tb.addresses import shown
from warploom.tb.bench import Stimulus, busy
from warploom.tb.bypass.promises import Promises
from warploom.tb.narrow_values import encoding
from warploom.tb.operands.test_collector import placement
from warploom.tb.sparse import lanes

WARP = 1

SOURCES = ("src0", "src1", "src2")

REGISTERS = range(200)
"""Register numbers of the warp."""

FILED = 100
"""Registers that have a row, if some have none."""

RECENT = 6
"""Registers that the next instructions prefer."""


class Values:
    """The values of the warp's registers, and their values in the register file."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._filed: dict[int, int] = {}
        self._current: dict[int, int] = {}

    def filed(self, register: int) -> int:
        """The word in the register file; random at first."""
        word = self._filed.setdefault(register, self._rng.getrandbits(WARP_BITS))
        self._current.setdefault(register, word)
        return word

    def current(self, register: int) -> int:
        """The word that an instruction must read."""
        self.filed(register)
        return self._current[register]

    def complete(self, register: int, word: int, mask: int) -> None:
        """A result of some lanes is complete."""
        self._current[register] = merge(self.current(register), word, mask)

    def file(self, register: int, word: int, mask: int) -> None:
        """Some lanes are written to the register file."""
        self._filed[register] = merge(self.filed(register), word, mask)

    def restart(self) -> None:
        """Another warp begins; its registers have the contents of the register file."""
        self._current.clear()


class Latched(NamedTuple):
    """A result in a write latch: its instruction, and whether it will be delivered."""

    fields: Mapping[str, Any]
    deliver: bool


class Warp:
    """Inputs of a bypassing collector, from the state of its model at the start of a cycle.

    Instructions issue if scoreboard, free entries and hints allow. A result comes, some cycles after the dispatch, to
    the input of any latch, enters when that is empty or completes, and completes later. At most one is delivered in a
    cycle.
    """

    def __init__(self, config: SmConfig, rng: random.Random, model: BypassingCollector) -> None:
        self.values = Values(rng)
        self._config, self._rng, self._model = config, rng, model
        self._addresses, self._promises = placement(config), Promises(config)
        self._pool = self._registers()
        self._recent = deque(self._pool, RECENT)
        self._path = ALL_LANES
        self._many = False  # instructions name as many registers as they can
        self._written: set[int] = set()  # registers that instructions in flight will write
        self._executing: list[tuple[int, Mapping[str, Any]]] = []  # cycle in which the result may come, instruction
        self._latches: list[Latched | None] = [None] * len(config.pipes)
        self._offered: list[Mapping[str, Any] | None] = [None] * len(config.pipes)  # at the inputs of latches
        self._cycle = self._blocked_until = 0
        self._takes, self._grants, self._dispatches, self._results, self._evictions, self._reads = (
            _spells(rng) for _ in range(6))
        self._chosen = False
        self._arrives = False  # an operand arrives in this cycle
        self.selected = self.reading = False
        """Where banks select reads first: whether one has selected the request, and whether it is read in this cycle.
        """
        self._next = self._instruction()

    @property
    def plain(self) -> bool:
        """Whether the register file stores plain words."""
        return not self._config.has_sides and not self._config.has_zero_mask

    def cycle(self) -> Stimulus:
        """The inputs of the next cycle."""
        model = self._model
        self._cycle += 1
        blocked = self._cycle < self._blocked_until
        dispatched = self._dispatch()
        issued = self._issue(model.free_entries(blocked, dispatched))
        stimulus = {
            **self._read(), "read__word": self._operand(), "offer__dispatched": dispatched, **self._complete(),
            "forward__coming": self._come(), **issued,
        }
        if dispatched and model.fields["writes"]:
            self._executing.append((self._cycle + self._rng.randint(4, 8), model.fields))
        if issued["take"]:
            self._issued(issued["instruction__issue"])
        if self._config.has_unallocated:
            stimulus["registers"] = FILED
        if self._config.writes_back:
            stimulus |= {"eviction__blocked": blocked, "eviction__taken": self._evict(issued["take"])}
        return stimulus

    def _dispatch(self) -> bool:
        """Whether the oldest instruction leaves; with a dispatch delay if it was chosen in the previous cycle."""
        before = self._chosen
        self._chosen = self._model.ready and not before and next(self._dispatches)
        if self._config.dispatch_delay:
            return before
        dispatched, self._chosen = self._chosen, False
        return dispatched

    # ------------------------------------------------------------------ front end

    def _issue(self, free: int) -> dict[str, Any]:
        """The next instruction, if it may issue with these free entries; otherwise the port shows one of another
        warp."""
        fields = self._next
        read = {fields[name] for slot, name in enumerate(SOURCES) if fields["reads"] >> slot & 1}
        waits = (read | {fields["dst"]}) & self._written or (fields["first"] and not self._is_idle())
        if waits or free <= len(read) or not next(self._takes):
            return {"take": False, "instruction__issue": fields | {"first": self._rng.random() < 0.5}}
        registers = [*(fields[name] for name in SOURCES), fields["dst"]]
        return {"take": True, "instruction__issue": fields, **self._stored(registers)}

    def _instruction(self) -> dict[str, int]:
        """Any instruction that reads no value that is lost according to the hints; half of them may name what entries
        hold. For some time each names many registers, so that all entries are in use."""
        rng, executing, first = self._rng, self._lanes(), self._rng.random() < 0.02
        if rng.random() < 0.1:
            self._many = rng.random() < 0.25
        legal = [register for register in REGISTERS if not self._promises.lost(WARP, register) & executing]
        if self._many and len(legal) >= len(SOURCES):
            sources = dict(zip(SOURCES, rng.sample(legal, len(SOURCES)), strict=True))
            return self._fields({**sources, "dst": rng.choice(REGISTERS), "lanes": executing, "reads": 0b111,
                                 "first": 0, "writes": 1, "imm_slot": NO_SLOT})
        few = [self._register(0 if first else executing) for _ in range(rng.randint(1, 4))]
        if not first and rng.random() < 0.5:
            few += [entry.register for entry in self._model.entries
                    if entry.used and not self._promises.lost(WARP, entry.register) & executing]
        reads = rng.getrandbits(3)
        return self._fields({
            "lanes": executing, "reads": reads, "first": first, "writes": rng.random() < 0.8,
            "imm_slot": rng.choice([slot for slot in range(3) if not reads >> slot & 1] + [NO_SLOT]),
            **{name: rng.choice(few) for name in SOURCES}, "dst": rng.choice([*few, self._register(0)]),
        })

    def _fields(self, chosen: Mapping[str, int]) -> dict[str, int]:
        """The fields of an instruction, of which some are chosen."""
        fields = {name: self._rng.getrandbits(bits) for name, bits in issue_fields(self._config)}
        fields |= {"warp": WARP, **chosen}
        if self._config.has_unallocated:
            self._promises.without_rows(fields, FILED)
        return fields

    def _registers(self) -> list[int]:
        """The registers of a warp: some, and for each another one whose number differs in one bit."""
        some = self._rng.sample(REGISTERS, self._config.entries // 2 + 2)
        return [*some, *(self._rng.choice([other for bit in range(8) if (other := register ^ 1 << bit) in REGISTERS])
                         for register in some)]

    def _lanes(self) -> int:
        """Executing lanes: all, those of the warp's current path, some of these, or any."""
        some = lanes(self._rng)
        if self._rng.random() < 0.05:
            self._path = some
        return self._rng.choice((ALL_LANES, self._path, self._path & some, some)) or 1

    def _is_idle(self) -> bool:
        """Whether nothing of the warp is in flight."""
        return not (self._model.held or self._executing or any(self._latches) or any(self._offered))

    def _register(self, executing: int) -> int:
        """A register that may be read in some lanes."""
        while True:
            register = self._rng.choice(self._rng.choice((self._recent, self._recent, self._pool, REGISTERS)))
            if not self._promises.lost(WARP, register) & executing:
                return register

    def _stored(self, registers: list[int]) -> dict[str, Any]:
        """Addresses and metadata of registers: sources, then the destination."""
        addresses = [self._addresses[WARP << 8 | register] for register in registers]
        ports: dict[str, Any] = {
            "instruction__address": dict(enumerate_text([shown(self._config, address) for address in addresses]))}
        if self._config.has_sides:
            by_number = self._config.alignment is Alignment.REG
            encodings = {register: self._encoding(register) for register in registers}  # a register has only one
            early = [encodings[register] | ({"left": int(address.left)} if by_number else {})
                     for register, address in zip(registers, addresses, strict=True)]
            ports["instruction__early"] = dict(enumerate_text(early))
        return ports

    def _encoding(self, register: int) -> StoredFields:
        """The encoding of a register, which is not written while an instruction that waits for it is held."""
        entry = self._model.lookup(register)
        if entry is not None and entry.wanted:
            return Encoding.of(entry.stored).fields
        return encoding(self._rng).fields

    def _issued(self, fields: Mapping[str, Any]) -> None:
        """An instruction enters."""
        if fields["first"]:
            self.values.restart()
            self._pool = self._registers()
        self._promises.issued(fields)
        if fields["writes"]:
            self._written.add(fields["dst"])
        self._recent.extend(fields[name] for name in (*SOURCES, "dst"))
        self._next = self._instruction()

    # ------------------------------------------------------------------ register file and results

    def _read(self) -> Stimulus:
        """A grant. If that is only the selection, the bank is read some cycles later, and nothing else is granted
        before the operand arrives."""
        arrives, self.selected = self.reading, self.selected and not self.reading
        self.reading = self.selected and next(self._reads)
        grant = not self.selected and self._model.request() is not None and next(self._grants)
        if not self._config.selects_reads:
            self._arrives = any(entry.arriving for entry in self._model.entries)
            return {"read__grant": grant}
        self._arrives = arrives
        self.selected |= grant
        return {"read__grant": grant, "read__arrives": arrives}

    def _operand(self) -> int:
        """The crossbar's word; if the register file stores plain words, the requested one."""
        arriving = [entry.register for entry in self._model.entries if entry.arriving]
        return self.values.filed(arriving[0]) if self.plain and arriving else self._rng.getrandbits(WARP_BITS)

    def _complete(self) -> dict[str, Any]:
        """Some results leave their latches: they are written, and one may be delivered, always while an operand
        arrives."""
        port: dict[str, Any] = {}
        for i, latched in enumerate(self._latches):
            if latched is None or (latched.deliver and port):
                continue
            if not next(self._results) and not (latched.deliver and self._arrives):
                continue
            fields, word = latched.fields, self._rng.getrandbits(WARP_BITS)
            register, mask = fields["dst"], fields["lanes"]
            self.values.complete(register, word, mask)
            if not (latched.deliver and self._config.writes_back):
                self.values.file(register, word, mask)
            if latched.deliver:
                port = {"forward__delivery": {
                    "valid": 1, "register": register, "lanes": mask, "full": fields["full"],
                    "transient": not fields.get("to_file", 1), "data": word,
                }}
            self._latches[i] = None
            self._written.discard(register)
        return port or {"forward__delivery": {
            "register": self._rng.choice(self._recent), "lanes": lanes(self._rng), "data": self._rng.getrandbits(32)}}

    def _come(self) -> dict[str, Any]:
        """Results come to the inputs of latches, and enter those that are empty."""
        port = {}
        for i, latched in enumerate(self._latches):
            due = [item for item in self._executing if item[0] <= self._cycle]
            if self._offered[i] is None and due != [] and next(self._results):
                chosen = self._rng.choice(due)
                self._executing.remove(chosen)
                self._offered[i] = chosen[1]
            fields = self._offered[i]
            if fields is None:
                unused = {"to_collector": self._rng.getrandbits(1)} if self._config.has_hints else {}
                port[str(i)] = {"register": self._rng.choice(self._recent), **unused}
                continue
            hint = {name: fields[name] for name in ("to_collector",) if name in fields}
            port[str(i)] = {"valid": 1, "register": fields["dst"], **hint}
            if latched is None:
                self._latches[i] = Latched(fields, self._model.delivers(fields["dst"], hint.get("to_collector", 1)))
                self._offered[i] = None
        return port

    def _evict(self, taking: bool) -> bool:
        """Whether the requested eviction is granted."""
        leaving = self._model.leaving()
        if taking or leaving is None or leaving.dropped or not next(self._evictions):
            return False
        self._blocked_until = self._cycle + self._rng.randint(2, 6)
        return True


def enumerate_text(values: list[Any]) -> Iterator[tuple[str, Any]]:
    """Elements of an array by their numbers as text, as in a codec."""
    return ((str(i), value) for i, value in enumerate(values))


def _spells(rng: random.Random) -> Iterator[bool]:
    """Activity with random probability, each for some time."""
    while True:
        pattern = busy(rng, rng.choice((0.2, 0.6, 0.9)))
        for _ in range(rng.randint(20, 200)):
            yield next(pattern)
