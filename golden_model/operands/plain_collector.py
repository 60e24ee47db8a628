"""`PlainCollector`: a collector of registers that are stored as whole words (docs/contract/operands.md)."""

from collections.abc import Mapping
from typing import Final

from warploom.golden_model.memo import Memo
from warploom.golden_model.named import named
from warploom.golden_model.operands.collector import ALL_COLUMNS, EVERY, SLOTS_OF, Requests, WholeSlots
from warploom.golden_model.placement import Address
from warploom.golden_model.records import IssueFields
from warploom.golden_model.register_file.ports import Port, Read


def _requests(asked: tuple[int, tuple[Address, ...]]) -> Requests:
    """The requests of waiting slots for whole words."""
    waiting, sources = asked
    highest_first = reversed(SLOTS_OF[waiting])
    reads = {(sources[slot].bank, 0): named(Read, (slot, sources[slot], None, EVERY[slot])) for slot in highest_first}
    return named(Requests, (reads, len(reads) < waiting.bit_count()))


_requests_of: Final = Memo(_requests, 1 << 14)  # warps come to the same instructions again


class PlainCollector(WholeSlots):
    """A collector that requests whole words. For what calls it when see `Collector`; there are no metadata."""

    def issue(
        self, fields: IssueFields, sources: tuple[Address, ...], destination: Address, metadata: tuple[None, ...]
    ) -> None:
        """The end of the issue cycle: take an instruction."""
        self._take(fields, sources, destination)
        self.columns_stored += ALL_COLUMNS[self.present]

    def requests(self) -> Mapping[Port, Read]:
        """The request at each port."""
        reads, self.renews = _requests_of[self.waiting, self.sources]
        return reads

    def operands(self) -> tuple[int, int, int]:
        """The three operands for the lanes, if ready."""
        a, b, c = self.words
        return a, b, c
