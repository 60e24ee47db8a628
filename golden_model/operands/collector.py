"""`Collector`: holds one instruction until its operands are present (docs/contract/operands.md)."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from warploom.arch.config import COLUMNS
from warploom.golden_model.placement import Address
from warploom.golden_model.register_file.ports import Form, Metadata, Port, Read
from warploom.golden_model.words import broadcast

SLOTS = range(3)
SOURCES = ("src0", "src1", "src2")
"""Fields of the issue port that name the register of each slot."""

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


_SLOTS_OF = [[slot for slot in SLOTS if mask >> slot & 1] for mask in range(8)]
"""The slots of a mask."""

ALL_COLUMNS = (COLUMNS,) * 3
"""All columns of each slot."""

NOTHING_STORED: Mapping[str, int] = {}
"""The metadata of a register if there is only one stored form."""


class Slots:
    """One instruction and its three operands, the part that all collectors share.

    `waiting` and `present` are masks over slots, 0 if the collector is free; `fields` are those of the issue port, and
    the address and metadata of the destination; `sources` and `words` hold each slot's address and 1024-bit word.
    `columns` is the number of columns of each slot that take its operand or constant, and `columns_stored` the number
    of columns stored since reset.
    """

    observed = ("busy", "waiting", "present")

    def __init__(self, index: int) -> None:
        self.index = index
        self.busy = False
        self.waiting = self.present = 0
        self.fields: Mapping[str, Any] = {}
        self._fills = (0, 0, 0)
        self.sources: Sequence[Address] = ()
        self.words = [0, 0, 0]
        self.columns: Sequence[int] = ALL_COLUMNS
        self.columns_stored = 0
        self._arrived = [0, 0, 0]  # columns of each slot that operands fill at the end of this cycle

    def _take(
        self, fields: Mapping[str, Any], sources: Sequence[Address], destination: Address,
        stored: Mapping[str, int] = NOTHING_STORED, columns: Sequence[int] = ALL_COLUMNS,
    ) -> None:
        """Hold an instruction. `stored` tells how its destination is stored so far, by the names of
        `interfaces.stored_fields` (and `left`, where that is not told by the number)."""
        self.busy = True
        bank, row, left, group, entry = destination
        self.fields = {**fields, "bank": bank, "row": row, "left": left, "group": group, "entry": entry, **stored}
        reads, imm_slot = fields["reads"], fields["imm_slot"]
        self.waiting, self._fills = plan(reads, fields["src0"], fields["src1"], fields["src2"])
        self.present = ALL_SLOTS & ~reads
        self.sources, self.columns = sources, columns
        for slot in _SLOTS_OF[self.present]:
            self.columns_stored += columns[slot]
            self._arrived[slot] = 0
        self.words = [0, 0, 0]
        if imm_slot < 3:
            self.words[imm_slot] = broadcast(fields["imm"])

    def _fill(self, slot: int, word: int) -> None:
        """The word of a slot arrives, for it and all that repeat it."""
        filled = self._fills[slot]
        self.present |= filled
        for repeating in _SLOTS_OF[filled]:
            self.words[repeating] = word
            self._arrived[repeating] = self.columns[slot]

    def store(self) -> None:
        """The end of a cycle in which operands arrived: they are stored, except where a constant is taken."""
        a, b, c = self._arrived
        self.columns_stored += a + b + c
        self._arrived = [0, 0, 0]

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
    """A collector that requests operands from the register file, in any stored form.

    `words` hold the outputs of the banks, including bytes that are not stored or not needed; the lanes read `operands`.
    `metadata` are those of the three slots, `needed` the columns that they enable. Within a cycle call `capture` for
    the grants of the previous cycle, then `grant`, then `release` or `issue`.
    """

    def __init__(self, index: int, form: Form) -> None:
        super().__init__(index)
        self.metadata: Sequence[Metadata] = ()
        self.needed: Sequence[int] = ()
        self._form = form

    def issue(
        self, fields: Mapping[str, Any], sources: Sequence[Address], destination: Address, metadata: Sequence[Metadata]
    ) -> None:
        """The end of the issue cycle: take an instruction, given as the fields of the issue port, its addresses and the
        metadata of its slots and, last, of its destination."""
        *self.metadata, written = metadata
        a, b, c = self.needed = self._form.needed(fields["lanes"], self.metadata)
        columns = a.bit_count(), b.bit_count(), c.bit_count()
        self._take(fields, sources, destination, self._form.fields(written), columns)

    def requests(self) -> dict[Port, Read]:
        """The request at each port: its lowest waiting slot."""
        found: dict[Port, Read] = {}
        ports = self._form.ports
        for slot in _SLOTS_OF[self.waiting]:
            address, metadata = self.sources[slot], self.metadata[slot]
            for port in ports(address, metadata):
                if port not in found:
                    found[port] = Read(slot, address, metadata, self.needed[slot])
                    break
        return found

    def operands(self) -> tuple[int, int, int]:
        """The three operands for the lanes, if ready."""
        restore, (a, b, c), (x, y, z) = self._form.restore, self.words, self.metadata
        return restore(a, x), restore(b, y), restore(c, z)

    def known_zero(self) -> tuple[int, int, int]:
        """The lanes of each operand that are known to be zero."""
        a, b, c = map(self._form.known_zero, self.metadata)
        return a, b, c
