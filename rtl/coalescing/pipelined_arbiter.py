"""The coalescing-aware arbiter of reads that the sides of banks have selected."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SUB_BANKS
from warploom.arch.interfaces import SIDES
from warploom.arch.pipes import WritePaths
from warploom.rtl.arbiter import advance
from warploom.rtl.coalescing.arbiter import grant_masked_writes, sub_bank_ports
from warploom.rtl.sizes import check_positive


class PipelinedCoalescingArbiter(wiring.Component):
    """`CoalescingArbiter` for reads of which each side of a bank has selected one.

    A read is granted if its sub-banks overlap neither those of a write in a latch nor the other read of its bank. Of
    two that overlap each other the right one is granted if the diagonal is even, else the left one.

    Members
    -------
    write_pending : the writers whose latches hold a write, those with a request among them.
    valid, mask, grant : for each bank and side, whether it has selected a read, the sub-banks of that, and whether it
        is granted.
    others : `CoalescingArbiter`; the diagonal decides between sides only.
    """

    def __init__(self, *, banks: int, collectors: int, paths: WritePaths, rotating: int = 1) -> None:
        check_positive(banks=banks, collectors=collectors)
        self._banks, self._paths, self._rotating = banks, paths, rotating
        self._size = max(banks, collectors)
        others = sub_bank_ports(banks, collectors, paths, rotating)
        each = data.ArrayLayout(len(SIDES), banks)
        super().__init__({
            **{name: port for name, port in others.items() if not name.startswith(("read_", "slice_"))},
            "write_pending": In(sum(map(len, paths))),
            "valid": In(each), "grant": Out(each),
            "mask": In(data.ArrayLayout(data.ArrayLayout(SUB_BANKS, len(SIDES)), banks)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        advance(m, self.diagonal, self._size)
        grant_masked_writes(m, self, self._paths, self._rotating)
        for bank in range(self._banks):
            self._grant_bank(m, bank)
        return m

    def _grant_bank(self, m: Module, bank: int) -> None:
        """Grant the reads of a bank's sides."""
        masks, left_first = self.mask[bank], self._left_first()
        free, meet = Signal(len(SIDES), name=f"free_{bank}"), Signal(name=f"meet_{bank}")
        m.d.comb += [
            free.eq(self.valid[bank] & ~Cat(self._written(bank, mask) for mask in masks)),
            meet.eq((masks[0] & masks[1]).any() & free.all()),
            self.grant[bank].eq(free & ~Cat(meet & left_first, meet & ~left_first)),
        ]

    def _left_first(self) -> Value:
        """Whether the left one of two reads that overlap each other is granted."""
        return self.diagonal[0]

    def _written(self, bank: int, mask: Value) -> Value:
        """Whether a write in a latch overlaps the sub-banks of a bank."""
        return Cat(pending & (target == bank) & (written & mask).any() for pending, target, written
                   in zip(self.write_pending, self.write_bank, self.write_mask, strict=True)).any()
