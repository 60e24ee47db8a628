"""The arbiter of reads that ports of banks have selected: it grants what conflicts with no write."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.interfaces import SIDES
from warploom.rtl import ports
from warploom.rtl.arbiter import advance, bank_ports, grant_writes
from warploom.rtl.coalescing.arbiter import grant_masked_writes, sub_bank_ports


class PipelinedArbiter(wiring.Component):
    """Grants writes, as `Arbiter` does or with sides as `CoalescingArbiter` does, and reads. Each port of a bank (with
    sides, one for each) has selected a read.

    A read is granted if no write takes its bank; with sides, if its sub-banks overlap neither those of a write in a
    latch nor the other read of its bank. Of two that overlap each other the right one is granted if the diagonal is
    even, else the left one.

    Parameters
    ----------
    config : banks, collectors and write paths.

    Members
    -------
    write_request, write_bank, write_grant : `Arbiter`.
    write_mask, write_pending : with sides, as in `RotatingCoalescingArbiter`.
    valid, mask : for each port, whether it has selected a read; with sides, the sub-banks of that.
    grant : for each port, whether this read is granted.
    diagonal, first_path : `Arbiter`; the diagonal decides between sides only.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        banks, count = config.banks, ports.accesses(config)
        sizes = banks, config.collectors, config.write_paths, config.rotating_paths
        others = sub_bank_ports(*sizes) if config.has_sides else bank_ports(*sizes)
        masks = data.ArrayLayout(data.ArrayLayout(SUB_BANKS, count), banks)
        super().__init__({
            **{name: port for name, port in others.items() if not name.startswith(("read_", "slice_"))},
            "valid": In(data.ArrayLayout(count, banks)),
            "grant": Out(data.ArrayLayout(count, banks)),
            **({"mask": In(masks), "write_pending": In(len(config.writers))} if config.has_sides else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m, config = Module(), self._config
        advance(m, self.diagonal, max(config.banks, config.collectors))
        if config.has_sides:
            grant_masked_writes(m, self, config.write_paths, config.rotating_paths)
            for bank in range(config.banks):
                self._grant_sides(m, bank)
        else:
            closed = grant_writes(m, self, config.banks, config.write_paths, config.rotating_paths, ports=1)
            m.d.comb += self.grant.eq(self.valid.as_value() & ~closed)
        return m

    def _grant_sides(self, m: Module, bank: int) -> None:
        """Grant the reads of a bank's sides."""
        masks, open_ = self.mask[bank], Signal(len(SIDES), name=f"open_{bank}")
        overlap, is_odd = Signal(name=f"overlap_{bank}"), self.diagonal[0]
        m.d.comb += [
            open_.eq(self.valid[bank] & ~Cat(self._written(bank, mask) for mask in masks)),
            overlap.eq((masks[0] & masks[1]).any() & open_.all()),
            self.grant[bank].eq(open_ & ~Cat(overlap & is_odd, overlap & ~is_odd)),
        ]

    def _written(self, bank: int, mask: Value) -> Value:
        """Whether a write in a latch overlaps the sub-banks of a bank."""
        return Cat(pending & (target == bank) & (written & mask).any() for pending, target, written
                   in zip(self.write_pending, self.write_bank, self.write_mask, strict=True)).any()
