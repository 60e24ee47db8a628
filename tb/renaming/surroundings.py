"""What is around the rename stage in its bench: a front end that observes hazards, and an operand store that reads and
writes at random times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import TAG_BITS, issue_fields
from warploom.arch.mechanisms import Layout
from warploom.golden_model.inputs import WarpEvents
from warploom.golden_model.placement import Address
from warploom.golden_model.records import SOURCES, IssueFields
from warploom.golden_model.register_file.ports import Port, Read
from warploom.tb.renaming.accesses import Accesses

Register = tuple[int, int]
"""Warp slot and number."""


class Store:
    """The operand store that the golden stage is given. It keeps the instruction that `left` in this cycle; the bench
    says how many collectors of each set are free, and which reads of released rows are granted (`grant`)."""

    counts = None
    quiet = False
    granted: Sequence[tuple[int, int]] = ()
    free: Sequence[int] = ()

    def __init__(self, sets: int) -> None:
        self.free_collectors = [0] * sets
        self.left: tuple[Mapping[str, Any], Sequence[Address], Address] | None = None
        self.arriving: list[tuple[int, Read, int]] = []
        self.dispatcher = SimpleNamespace(cycle=0)
        self.collectors = self.holders = [SimpleNamespace(fields={"releases": 1})]

    def ports(self, address: Address, metadata: int) -> Sequence[Port]:
        """The form of a register file whose metadata are sides."""
        return [(address.bank, metadata)]

    def grant(self, address: Address, side: int) -> None:
        """The last read of a row is granted in this cycle."""
        self.arriving.append((0, Read(0, address, side, 0), 0))

    def hold_back(self) -> int:
        """See `SlotStore`, here and below."""
        return 0

    def issue(self, fields: IssueFields, sources: Sequence[Address], destination: Address) -> None:
        self.left = fields, sources, destination

    def read(self) -> None:
        pass

    def clock(self, warps: WarpEvents) -> None:
        self.arriving, self.left = [], None
        self.dispatcher.cycle += 1


@dataclass
class Flight:
    """An instruction in flight. `reads` are the registers still to be read, each with the address of the row that its
    read releases, if it does, once the instruction has left the stage; `ends` are those whose value ends."""

    fields: IssueFields
    reads: dict[int, Address | None]
    ends: set[int]
    has_left: bool = False

    @property
    def warp(self) -> int:
        return self.fields["warp"]


class Surroundings:
    """Instructions of random warps, as hazards allow. Each warp has so many `registers`. As many rows of a bank are on
    as it has virtual rows, so that an instruction may have to wait for one."""

    def __init__(self, config: SmConfig, rng: Random, stride: int) -> None:
        self.stride, self._config, self._rng = stride, config, rng
        self.registers = stride * (config.banks if config.layout is Layout.WSHIFT else 1)
        of_bank = stride * config.warps // (1 if config.layout is Layout.WSHIFT else config.banks)
        self.powered = of_bank - config.tfet_rows
        self.flights: list[Flight] = []
        self.retired, self.accesses = 0, Accesses(config.warps, rng)
        self._freed: list[Register] = []  # registers whose last read was granted in the cycle before
        self._tags = iter(range(1 << 62))
        self.begin_phase()

    def begin_phase(self) -> None:
        """Last reads, grants and ends of warps are more or less frequent, and registers many or few."""
        rng = self._rng
        self._last, self._grants, self._ends = rng.choice((0, 0.1, 0.5, 0.9)), rng.choice((0.1, 0.6)), 0.002
        self._few: Sequence[int] = rng.sample(range(self.registers), rng.choice((3, self.registers)))
        if rng.random() < 0.6:  # all rows are in use, and for long
            self._last, self._grants, self._ends, self._few = 0.1, 0.05, 0, range(self.registers)

    def instruction(self, sweeping: int) -> IssueFields | None:
        """One that may issue, if it does not have to wait for others."""
        rng, config = self._rng, self._config
        warp, target = rng.randrange(config.warps), rng.choice(self._few)
        if self._freed and rng.random() < 0.5:  # its row is not in a list yet
            warp, target = rng.choice(self._freed)
        if (sweeping | self.retired) >> warp & 1:
            return None
        fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(config)}
        fields |= {name: rng.choice(self._few) for name in SOURCES} | {"dst": target}
        ending = {register for register in range(self.registers) if rng.random() < self._last}
        fields |= {"warp": warp, "tag": next(self._tags) % (1 << TAG_BITS), "pipe": rng.randrange(len(config.pipes)),
                   "writes": rng.random() < 0.8,
                   "last": sum((fields[name] in ending) << slot for slot, name in enumerate(SOURCES))}
        instruction = cast(IssueFields, fields)
        return None if self._waits(instruction) else instruction

    def _waits(self, fields: IssueFields) -> bool:
        """Whether an instruction names a register that another one is still to write, or reads one whose value ends
        with another one; or whether it ends a value, or writes a register, that another one is still to read."""
        others = [flight for flight in self.flights if flight.warp == fields["warp"]]
        written = {flight.fields["dst"] for flight in others if flight.fields["writes"]}
        read = {register for flight in others for register in flight.reads}
        ended = {register for flight in others for register in flight.ends}
        own, ends = _sources(fields, fields["reads"]), _sources(fields, fields["reads"] & fields["last"])
        changed = ends | ({fields["dst"]} if fields["writes"] else set())
        return bool(own & ended or (own | changed) & written or changed & read)

    def issued(self, fields: IssueFields) -> None:
        """An instruction enters the stage."""
        self.flights.append(Flight(fields, dict.fromkeys(_sources(fields, fields["reads"])),
                                   _sources(fields, fields["reads"] & fields["last"])))

    def left(self, fields: IssueFields, sources: Sequence[Address]) -> None:
        """It leaves the stage: some of its reads release the row of their register."""
        flight = self.flights[-1]
        flight.has_left = True
        for slot, name in enumerate(SOURCES):
            if fields["releases"] >> slot & 1:
                flight.reads[fields[name]] = sources[slot]

    def grants(self) -> Iterator[tuple[Port, Address]]:
        """Reads of this cycle that release a row, at most one for a side of a bank, and their rows. Others are granted,
        and results are written, without the stage."""
        used: set[Port] = set()
        self._freed = []
        for flight in self.flights:
            for register, row in [*flight.reads.items()] if flight.has_left else []:
                if self._rng.random() >= self._grants:
                    continue
                port = 0 if row is None else row.bank, self._rng.randrange(1 + self._config.has_sides)
                if row is not None and port in used:
                    continue
                del flight.reads[register]
                if row is not None:
                    used.add(port)
                    self._freed.append((flight.warp, register))
                    yield port, row
        self.flights = [flight for flight in self.flights if not flight.has_left or flight.reads
                        or self._rng.random() < 0.5]

    def free(self) -> list[int]:
        """The number of free collectors of each set: for an instruction in the stage there is one."""
        free = [self._rng.choice((0, 1, 2, 2, 2)) for _ in self._config.collector_sets]
        if self.flights and not self.flights[-1].has_left:
            needed = self._config.collector_set(self._config.pipes[self.flights[-1].fields["pipe"]].kind)
            free[needed] = max(free[needed], 1)
        return free

    def advance(self, sweeping: int) -> None:
        """What happens to warps in the next cycle: some retire, and some have accesses beyond the L1 cache."""
        rng, slots, ended = self._rng, range(self._config.warps), sweeping | self.retired
        running = {flight.warp for flight in self.flights} | {warp for warp in slots if ended >> warp & 1}
        self.retired = sum(1 << warp for warp in slots if warp not in running and rng.random() < self._ends)
        self.accesses.advance()


def _sources(fields: IssueFields, slots: int) -> set[int]:
    """The registers of some slots."""
    return {fields[name] for slot, name in enumerate(SOURCES) if slots >> slot & 1}
