"""`Collector`: holds one instruction until its operands are present (docs/contract/operands.md)."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from warploom.arch.config import COLUMNS
from warploom.golden_model.memo import Memo
from warploom.golden_model.named import named
from warploom.golden_model.placement import Address
from warploom.golden_model.records import DispatchFields, IssueFields, StoredFields
from warploom.golden_model.register_file.ports import Form, Metadata, Port, Read
from warploom.golden_model.words import broadcast

SLOTS = range(3)

ALL_SLOTS = 0b111


class Plan(NamedTuple):
    """The state of each slot after issue, from the instruction's `reads` and sources alone."""

    waiting: int  # slots that will request a bank
    fills: tuple[int, int, int]  # slots that become present when slot k receives its operand


@cache
def plan(reads: int, source0: int, source1: int, source2: int) -> Plan:
    """A slot that reads waits unless a lower reading slot names the same register; then it repeats that slot."""
    sources = (source0, source1, source2)
    waiting, fills = 0, [0, 0, 0]
    for slot in SLOTS:
        if reads >> slot & 1:
            first = next(s for s in SLOTS if reads >> s & 1 and sources[s] == sources[slot])
            waiting |= 1 << first
            fills[first] |= 1 << slot
    return Plan(waiting, (fills[0], fills[1], fills[2]))


SLOTS_OF = [[slot for slot in SLOTS if mask >> slot & 1] for mask in range(8)]
"""The slots of a mask."""

EVERY = ((1 << COLUMNS) - 1,) * 3
"""The columns of each slot, without gating."""


def sums_of(columns: Sequence[int]) -> Sequence[int]:
    """The columns of the slots of each mask, in all; `columns` are those of each slot."""
    a, b, c = columns
    return 0, a, b, a + b, c, a + c, b + c, a + b + c


ALL_COLUMNS = sums_of((COLUMNS,) * 3)
"""These sums without gating."""

NOTHING_STORED: StoredFields = {}
"""The metadata of a register if there is only one stored form."""


def extended(fields: IssueFields, destination: Address, stored: StoredFields) -> DispatchFields:
    """These fields themselves, with what belongs to the destination: its address, and how it is stored so far."""
    held: Any = fields
    held["bank"], held["row"], held["left"], held["group"], held["entry"] = destination
    if stored:
        held.update(stored)
    dispatch: DispatchFields = held
    return dispatch


class Slots:
    """One instruction and its three operands, the part that all collectors share.

    `waiting` and `present` are masks over slots, 0 if the collector is free; `fields` are those of the issue port, and
    the address and metadata of the destination; `sources` and `words` hold each slot's address and 1024-bit word.
    `columns_stored` is the number of columns that have taken an operand or a constant since reset. It `renews` its
    requests after a grant if this may let it request another slot.
    """

    observed = ("busy", "waiting", "present")
    renews = True

    def __init__(self, index: int) -> None:
        self.index = index
        self.busy = False
        self.waiting = self.present = 0
        self.fields = cast(DispatchFields, {})
        self._fills = (0, 0, 0)
        self.sources: tuple[Address, ...] = ()
        self.words = [0, 0, 0]
        self.columns_stored = 0
        self._sums: Sequence[int] = ALL_COLUMNS  # by mask of slots: their columns that take operand or constant
        self._filled = 0  # slots that operands fill at the end of this cycle
        self._filling: Sequence[int] = ALL_COLUMNS  # the columns that they fill

    @property
    def columns(self) -> int:
        """The number of columns that take an operand or a constant, of all slots."""
        return self._sums[ALL_SLOTS]

    def _take(
        self, fields: IssueFields, sources: tuple[Address, ...], destination: Address,
        stored: StoredFields = NOTHING_STORED,
    ) -> None:
        """Hold an instruction. `stored` are the metadata of its destination. Who calls it counts the columns of the
        slots that are present now."""
        self.busy = True
        self.fields = extended(fields, destination, stored)
        reads, imm_slot = fields["reads"], fields["imm_slot"]
        self.waiting, self._fills = plan(reads, fields["src0"], fields["src1"], fields["src2"])
        self.present = ALL_SLOTS & ~reads
        self.sources = sources
        self._filled &= reads
        self.words = [0, 0, 0]
        if imm_slot < 3:
            self.words[imm_slot] = broadcast(fields["imm"])

    def _fill(self, read: Read, word: int) -> None:
        """The word of the slot of a read arrives, for it and all that repeat it."""
        slot = read.key
        filled = self._fills[slot]
        self.present |= filled
        self._filled |= filled
        self._filling = self._sums
        self.words[slot] = word
        if filled & filled - 1:
            for repeating in SLOTS_OF[filled]:
                self.words[repeating] = word

    def store(self) -> None:
        """The end of a cycle in which operands arrived: they are stored, except where a constant is taken."""
        self.columns_stored += self._filling[self._filled]
        self._filled = 0

    @property
    def ready(self) -> bool:
        """All operands are present."""
        return self.present == ALL_SLOTS

    def release(self) -> None:
        """The end of the dispatch cycle: free."""
        self.busy = False
        self.waiting = self.present = 0

    def observe(self) -> Sequence[int]:
        """Whether it is busy, and the slots that wait for a grant, and that are present."""
        return self.busy, self.waiting, self.present


class WholeSlots(Slots):
    """Slots that are each filled by one read."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.capture = self._fill
        """The word of a request granted in the previous cycle arrives."""

    def grant(self, read: Read) -> bool:
        """A request is granted. Its word is captured in the next cycle. Returns whether its slot no longer waits."""
        self.waiting &= ~(1 << read.key)
        return True


class Requests(NamedTuple):
    """The request at each port, its lowest waiting slot, and whether one of them keeps another slot waiting."""

    reads: Mapping[Port, Read]
    conflict: bool


class Asking(NamedTuple):
    """What an instruction asks of the register file. `needed` has the columns that each slot enables, `sums` how many
    (`sums_of`); `reads` the ports and the read of each slot that waits, lowest first; `first` the requests of all of
    these."""

    needed: Sequence[int]
    sums: Sequence[int]
    reads: Sequence[tuple[Sequence[Port], Read]]
    first: Requests


NOTHING_ASKED = Asking((), (), (), Requests({}, False))

Asker = Memo[tuple[int, int, tuple[Address, ...], tuple[Metadata, ...]], Asking]
"""What the slots of the mask `waiting` ask, for the executing lanes, if they matter, of registers with these addresses
and metadata."""


def asking_of(form: Form) -> Asker:
    """The `Asker` of registers in this form."""
    ports = form.ports

    def asking(asked: tuple[int, int, tuple[Address, ...], tuple[Metadata, ...]]) -> Asking:
        waiting, lanes, sources, metadata = asked
        needed = form.needed(lanes, metadata)
        each = zip(SLOTS, sources, metadata, needed, strict=True)  # the values of a `Read`
        reads = [(ports(read[1], read[2]), named(Read, read)) for read in each if waiting >> read[0] & 1]
        a, b, c = needed
        sums = sums_of((a.bit_count(), b.bit_count(), c.bit_count()))
        return named(Asking, (needed, sums, reads, requests_of(waiting, reads)))

    return Memo(asking, 1 << 14)  # warps come to the same instructions again


def requests_of(waiting: int, reads: Sequence[tuple[Sequence[Port], Read]]) -> Requests:
    """The requests of waiting slots: each at the first of its ports that no lower slot has."""
    found: dict[Port, Read] = {}
    conflict = False
    for ports, read in reads:
        if waiting >> read.key & 1:
            port = ports[0]
            if port in found:
                conflict = True
                free = [other for other in ports if other not in found]
                if not free:
                    continue
                port = free[0]
            found[port] = read
    return named(Requests, (found, conflict))


class Collector(WholeSlots):
    """A collector that requests operands from the register file, in any stored form that has metadata.

    `words` hold the outputs of the banks, including bytes that are not stored or not needed; the lanes read `operands`.
    `metadata` are those of the three slots, `needed` the columns that they enable. Within a cycle call `capture` for
    the grants of the previous cycle, then `grant`, then `release` or `issue`. What an instruction asks it learns from
    `asking` (`asking_of`), which the collectors of a register file share.
    """

    def __init__(self, form: Form, asking: Asker, index: int) -> None:
        super().__init__(index)
        self.metadata: tuple[Metadata, ...] = ()
        self._fields_of, self._ask = form.fields, asking
        self._restore, self._known_zero, self._by_lanes = form.restore, form.known_zero, form.by_lanes
        self._asked = NOTHING_ASKED
        self._at_first = 0  # the slots that wait when an instruction is taken

    @property
    def needed(self) -> Sequence[int]:
        """The columns that each slot enables."""
        return self._asked.needed

    def issue(
        self, fields: IssueFields, sources: tuple[Address, ...], destination: Address, metadata: tuple[Metadata, ...]
    ) -> None:
        """The end of the issue cycle: take an instruction, given as the fields of the issue port, its addresses and the
        metadata of its slots and, last, of its destination. The fields are extended by what belongs to the
        destination."""
        read = self.metadata = metadata[:-1]
        self._take(fields, sources, destination, self._fields_of(metadata[-1]))
        waiting = self._at_first = self.waiting
        asked = self._asked = self._ask[waiting, fields["lanes"] if self._by_lanes else 0, sources, read]
        sums = self._sums = asked.sums
        self.columns_stored += sums[self.present]

    def requests(self) -> Mapping[Port, Read]:
        """The request at each port."""
        asked = self._asked
        reads, self.renews = (asked.first if self.waiting == self._at_first
                              else requests_of(self.waiting, asked.reads))
        return reads

    def operands(self) -> tuple[int, int, int]:
        """The three operands for the lanes, if ready. A slot that reads no register has its word in full."""
        restore, reads, (a, b, c), (x, y, z) = self._restore, self.fields["reads"], self.words, self.metadata
        return (restore(a, x) if reads & 0b001 else a, restore(b, y) if reads & 0b010 else b,
                restore(c, z) if reads & 0b100 else c)

    def known_zero(self) -> tuple[int, int, int]:
        """The lanes of each operand that are known to be zero."""
        known, (a, b, c) = self._known_zero, self.metadata
        return known(a), known(b), known(c)
