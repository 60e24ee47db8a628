"""The state, inputs and outputs of a bypassing collector (docs/contract/operands.md, *Window collectors*)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from warploom.golden_model.placement import Address
from warploom.golden_model.records import DispatchFields, IssueFields, StoredFields

_NOWHERE = Address(0, 0, False)


@dataclass(slots=True)
class Entry:
    """A warp register in a collector. `wanted`, `arriving`, `valid` and `dirty` are lane masks; `word` has lane l in
    bits 32l .. 32l + 31. `pins` counts the slots of held instructions that read it; `latched`: the awaited result is in
    a write latch."""

    index: int
    used: bool = False
    register: int = 0
    address: Address = _NOWHERE
    stored: StoredFields = field(default_factory=StoredFields)
    valid: int = 0
    wanted: int = 0
    arriving: int = 0
    dirty: int = 0
    age: int = 0
    pins: int = 0
    awaited: bool = False
    latched: bool = False
    transient: bool = False
    full: bool = False
    word: int = 0

    def start(self, register: int) -> None:
        """Name a register; no lane is valid."""
        self.used, self.register = True, register
        self.valid = self.wanted = self.arriving = self.dirty = self.age = 0
        self.awaited = self.latched = self.transient = self.full = False

    @property
    def known(self) -> int:
        """Lanes that are valid, wanted or arriving."""
        return self.valid | self.wanted | self.arriving


class Held(NamedTuple):
    """An instruction that waits: the fields of the issue port, and the physical address and metadata of its
    destination; the entry of each slot that reads a register; these entries alone, in the order of slots."""

    fields: DispatchFields
    slots: tuple[Entry | None, ...]
    entries: tuple[Entry, ...]


class Taken(NamedTuple):
    """An instruction that a collector takes: the fields of the issue port, the physical addresses of its registers, and
    their metadata (sources and, last, destination), by the names of `interfaces.stored_fields` (and `left`, if the
    register's number does not give it). Metadata of registers that are not named is unspecified."""

    fields: IssueFields
    sources: tuple[Address, ...]
    destination: Address
    stored: Sequence[StoredFields]


class Request(NamedTuple):
    """A collector's request: the entry, the physical address and metadata of its register, and the wanted lanes."""

    entry: int
    address: Address
    stored: StoredFields
    lanes: int


class Coming(NamedTuple):
    """A result of this warp that is at the input of its latch and writes a register, and whether it is delivered."""

    register: int
    deliver: bool


class Delivery(NamedTuple):
    """A result on the result port: register, 1024-bit word, executing lanes, whether they are all that are live, and
    whether the value is transient."""

    register: int
    data: int
    lanes: int
    full: bool
    transient: bool


@dataclass(slots=True)
class Events:
    """What happens to a collector at the end of a cycle: an instruction is taken; the request is granted; if that is
    only its selection, the bank is `read` later; the operand read in the previous cycle arrives, as plain lanes;
    results are at the inputs of their latches, and one is delivered; the oldest instruction is dispatched; the entry
    that is leaving is evicted."""

    take: Taken | None = None
    granted: bool = False
    read: bool = False
    arriving_word: int | None = None
    coming: Sequence[Coming] = ()
    delivery: Delivery | None = None
    dispatched: bool = False
    evicted: bool = False


NO_EVENT = Events()
"""What happens to a collector that changes without any event. All share it, and nobody changes it."""


class Leaving(NamedTuple):
    """The dirty entry that would leave, `dropped` or evicted, because it `slid` out of the window or because the
    collector is crowded."""

    entry: int
    dropped: bool
    slid: bool


def in_turn(entry: Entry) -> tuple[int, int]:
    """Sort key: the order in which used entries are taken over, or leave."""
    return -entry.age, entry.index


def next_available(
    available: Sequence[Entry], sources: Collection[int | None], destination: int | None
) -> Entry | None:
    """The first available entry that is unused or names none of the registers; failing that, the one that names the
    destination."""
    last = None
    for entry in available:
        if not entry.used:
            return entry
        if entry.register == destination and destination not in sources:
            last = entry
        elif entry.register not in sources:
            return entry
    return last
