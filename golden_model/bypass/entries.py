"""What a bypassing collector holds, takes and gives (docs/contract/operands.md, *Window collectors*)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from warploom.golden_model.placement import Address

_NOWHERE = Address(0, 0, False)


@dataclass(slots=True)
class Entry:
    """A warp register in a collector. `wanted`, `arriving`, `valid` and `dirty` are lane masks; `word` has lane l in
    bits 32l .. 32l + 31. `pins` are the slots of held instructions that read it; `latched` says that the result that it
    awaits is in a write latch."""

    index: int
    used: bool = False
    register: int = 0
    address: Address = _NOWHERE
    stored: Mapping[str, int] = field(default_factory=dict)
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
        """Name a register, of which no lane is here."""
        self.used, self.register = True, register
        self.valid = self.wanted = self.arriving = self.dirty = self.age = 0
        self.awaited = self.latched = self.transient = self.full = False

    @property
    def known(self) -> int:
        """Lanes that are here, or on their way."""
        return self.valid | self.wanted | self.arriving


class Held(NamedTuple):
    """An instruction that waits: the fields of the issue port and, of its destination, those of its address and of how
    it is stored; the entry of each slot that reads a register; these entries alone, in the order of slots."""

    fields: Mapping[str, Any]
    slots: tuple[Entry | None, ...]
    entries: tuple[Entry, ...]


class Taken(NamedTuple):
    """An instruction that a collector takes: the fields of the issue port, the addresses of its registers, and how
    those are stored (sources and, last, destination), by the names of `interfaces.stored_fields` (and `left`, where
    that is not told by the number). Of registers that are not named, anything."""

    fields: Mapping[str, Any]
    sources: Sequence[Address]
    destination: Address
    stored: Sequence[Mapping[str, int]]


class Request(NamedTuple):
    """What a collector requests: the entry, where and how its register is stored, and the lanes that it wants."""

    entry: int
    address: Address
    stored: Mapping[str, int]
    lanes: int


class Coming(NamedTuple):
    """A result of this warp that enters its latch in this cycle and writes a register; whether it will be delivered."""

    register: int
    deliver: bool


class Delivery(NamedTuple):
    """A result on the result port: register, 1024-bit word, executing lanes, whether they are all that are live, and
    whether the value is transient."""

    register: int
    word: int
    lanes: int
    full: bool
    transient: bool


class Leaving(NamedTuple):
    """The dirty entry that would leave: by being dropped, or else by being evicted; whether it slid out of the window,
    or else is in the way."""

    entry: int
    dropped: bool
    slid: bool


def age_of(entry: Entry) -> int:
    """Its age, to sort by."""
    return entry.age


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
