"""`Collector`: holds one instruction until its operands are present (docs/contract/operands.md)."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from warploom.arch.config import COLUMNS
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

ALL_COLUMNS = (COLUMNS,) * 3
"""The number of columns of each slot, without gating."""

EVERY = ((1 << COLUMNS) - 1,) * 3
"""The columns of each slot, without gating."""


def _sum_of(columns: Sequence[int], slots: int) -> int:
    """The columns of the slots of a mask, in all."""
    if not slots:
        return 0
    a, b, c = columns
    return a * (slots & 1) + b * (slots >> 1 & 1) + c * (slots >> 2)


NOTHING_STORED: StoredFields = {}
"""The metadata of a register if there is only one stored form."""


def extended(fields: IssueFields, destination: Address, stored: StoredFields) -> DispatchFields:
    """The same dict, which gets what belongs to the destination: its address, and how it is stored so far."""
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
    `columns` is the number of columns of each slot that take its operand or constant, and `columns_stored` the number
    of columns stored since reset. It `renews` its requests after a grant if this may let it request another slot.
    """

    observed = ("busy", "waiting", "present")
    renews = True

    def __init__(self, index: int) -> None:
        self.index = index
        self.busy = False
        self.waiting = self.present = 0
        self.fields = cast(DispatchFields, {})
        self._fills = (0, 0, 0)
        self.sources: Sequence[Address] = ()
        self.words = [0, 0, 0]
        self.columns: Sequence[int] = ALL_COLUMNS
        self.columns_stored = 0
        self._filled = 0  # slots that operands fill at the end of this cycle
        self._filling: Sequence[int] = ALL_COLUMNS  # the columns of each that they fill

    def _take(
        self, fields: IssueFields, sources: Sequence[Address], destination: Address,
        stored: StoredFields = NOTHING_STORED, columns: Sequence[int] = ALL_COLUMNS,
    ) -> None:
        """Hold an instruction. `stored` are the metadata of its destination."""
        self.busy = True
        self.fields = extended(fields, destination, stored)
        reads, imm_slot = fields["reads"], fields["imm_slot"]
        self.waiting, self._fills = plan(reads, fields["src0"], fields["src1"], fields["src2"])
        present = self.present = ALL_SLOTS & ~reads
        self.sources, self.columns = sources, columns
        self.columns_stored += COLUMNS * present.bit_count() if columns is ALL_COLUMNS else _sum_of(columns, present)
        self._filled &= reads
        self.words = [0, 0, 0]
        if imm_slot < 3:
            self.words[imm_slot] = broadcast(fields["imm"])

    def _fill(self, slot: int, word: int) -> None:
        """The word of a slot arrives, for it and all that repeat it."""
        filled = self._fills[slot]
        self.present |= filled
        self._filled |= filled
        self._filling = self.columns
        self.words[slot] = word
        if filled & filled - 1:
            for repeating in SLOTS_OF[filled]:
                self.words[repeating] = word

    def store(self) -> None:
        """The end of a cycle in which operands arrived: they are stored, except where a constant is taken."""
        columns, filled = self._filling, self._filled
        self.columns_stored += COLUMNS * filled.bit_count() if columns is ALL_COLUMNS else _sum_of(columns, filled)
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

    def grant(self, read: Read) -> bool:
        """A request is granted. Its word is captured in the next cycle. Returns whether its slot no longer waits."""
        self.waiting &= ~(1 << read.key)
        return True

    def capture(self, read: Read, word: int) -> None:
        """The word of a request granted in the previous cycle arrives."""
        self._fill(read.key, word)


class Collector(WholeSlots):
    """A collector that requests operands from the register file, in any stored form that has metadata.

    `words` hold the outputs of the banks, including bytes that are not stored or not needed; the lanes read `operands`.
    `metadata` are those of the three slots, `needed` the columns that they enable. Within a cycle call `capture` for
    the grants of the previous cycle, then `grant`, then `release` or `issue`.
    """

    def __init__(self, index: int, form: Form) -> None:
        super().__init__(index)
        self.metadata: Sequence[Metadata] = ()
        self.needed: Sequence[int] = ()
        self._form = form
        self._reads: Sequence[tuple[Sequence[Port], Read]] = ()  # ports and read of each slot that reads, lowest first

    def issue(
        self, fields: IssueFields, sources: Sequence[Address], destination: Address, metadata: Sequence[Metadata]
    ) -> None:
        """The end of the issue cycle: take an instruction, given as the fields of the issue port, its addresses and the
        metadata of its slots and, last, of its destination. The fields are extended by what belongs to the
        destination."""
        form = self._form
        *self.metadata, written = metadata
        a, b, c = needed = self.needed = form.needed(fields["lanes"], self.metadata)
        columns = a.bit_count(), b.bit_count(), c.bit_count()
        self._take(fields, sources, destination, form.fields(written), columns)
        self._reads = [
            (form.ports(sources[slot], metadata[slot]), Read(slot, sources[slot], metadata[slot], needed[slot]))
            for slot in SLOTS_OF[self.waiting]]

    def requests(self) -> dict[Port, Read]:
        """The request at each port: its lowest waiting slot."""
        found: dict[Port, Read] = {}
        waiting, self.renews = self.waiting, False
        for ports, read in self._reads:
            if waiting >> read.key & 1:
                port = ports[0]
                if port in found:
                    self.renews = True
                    free = [other for other in ports if other not in found]
                    if not free:
                        continue
                    port = free[0]
                found[port] = read
        return found

    def operands(self) -> tuple[int, int, int]:
        """The three operands for the lanes, if ready."""
        restore, (a, b, c), (x, y, z) = self._form.restore, self.words, self.metadata
        return restore(a, x), restore(b, y), restore(c, z)

    def known_zero(self) -> tuple[int, int, int]:
        """The lanes of each operand that are known to be zero."""
        a, b, c = map(self._form.known_zero, self.metadata)
        return a, b, c
