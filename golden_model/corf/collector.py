"""`CorfCollector`: a collector that may get two operands in one cycle ([RADAIDEH], Table 3.2)."""

from collections.abc import Sequence

from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.golden_model.corf.allocation import Location
from warploom.golden_model.operands.collector import WholeSlots, sums_of
from warploom.golden_model.placement import Address
from warploom.golden_model.records import IssueFields
from warploom.golden_model.register_file.ports import Port, Read


class CorfCollector(WholeSlots):
    """Requests its lowest waiting slot, and the next one that can be read in the same access. All its registers are in
    one bank. The metadata of a register is its location.

    Within a cycle call `capture` for what was granted in the previous cycle, then `grant`, then `release` or `issue`.
    """

    def __init__(self, config: SmConfig, index: int) -> None:
        super().__init__(index)
        self.reads: Sequence[Read] = ()
        self._across = config.packs_across

    def issue(
        self, fields: IssueFields, sources: tuple[Address, ...], destination: Address, metadata: tuple[Location, ...]
    ) -> None:
        """The end of the issue cycle: take an instruction, given as the fields of the issue port, its addresses and the
        locations of its sources."""
        columns = [COLUMNS // SUB_BANKS * location.width if fields["reads"] >> slot & 1 else COLUMNS
                   for slot, location in enumerate(metadata)]
        self._take(fields, sources, destination)
        sums = self._sums = sums_of(columns)
        self.columns_stored += sums[self.present]
        self.reads = [Read(slot, sources[slot], location, 0) for slot, location in enumerate(metadata)]

    def requests(self) -> dict[Port, Read]:
        """The slots that are read in one access, the lowest first, each on its own port."""
        waiting = [read for read in self.reads if self.waiting >> read.key & 1]
        first, others = waiting[:1], waiting[1:]
        second = [read for read in others if self._coalescable(first[0].metadata, read.metadata)][:1]
        return {(read.address.bank, side): read for side, read in enumerate(first + second)}

    def operands(self) -> tuple[int, int, int]:
        """The three operands; meaningful when ready."""
        return self.words[0], self.words[1], self.words[2]

    def _coalescable(self, one: Location, other: Location) -> bool:
        """Whether both are stored, in sub-banks that do not overlap; with CORF, in the same entry."""
        if not (one.mask and other.mask) or one.mask & other.mask:
            return False
        return self._across or one.row == other.row
