"""Assertions for simulations: every row of a bank is free, mapped once, or waits to be free."""

from amaranth import Cat, Module, ResetSignal, Signal, Value
from amaranth.hdl import Assert, Format
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from warploom.arch.config import SmConfig
from warploom.rtl import ports
from warploom.rtl.interfaces import SLOTS
from warploom.rtl.sizes import check_positive


class Ownership(wiring.Component):
    """Keeps for each row of a bank whether it is in *use*, from when a list gives it until it enters one, and whether
    it is *mapped*, until no register has it any more. A list gives no row that is in use, and no row enters that is not
    in use, or still mapped. No cells remain of it outside simulations.

    Parameters
    ----------
    config : rows of a bank, and how many enter in a cycle.

    Members
    -------
    given, dropped, entering : the rows that lists give, that registers no longer have from the next cycle on, and that
        enter lists.
    """

    def __init__(self, *, config: SmConfig) -> None:
        check_positive(rows=config.rows)
        self._rows, entry = config.rows, ports.row_entry(config)
        super().__init__({
            "given": In(data.ArrayLayout(entry, 2)),
            "dropped": In(data.ArrayLayout(entry, SLOTS + 2)),
            "entering": In(data.ArrayLayout(entry, ports.accesses(config))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        in_use, mapped, kept = (Signal(self._rows, name=name) for name in ("in_use", "mapped", "kept"))
        given, dropped, entering = map(self._mask, (self.given, self.dropped, self.entering))
        m.d.comb += kept.eq(mapped & ~dropped)
        m.d.sync += [in_use.eq((in_use | given) & ~entering), mapped.eq(kept | given)]
        with m.If(~ResetSignal()):
            m.d.sync += [
                Assert(~(given & in_use).any(), Format("rows {:x} are given twice\n", given & in_use)),
                Assert(~(entering & ~in_use).any(), Format("rows {:x} are free twice\n", entering & ~in_use)),
                Assert(~(entering & kept).any(), Format("rows {:x} are free too early\n", entering & kept)),
            ]
        return m

    def _mask(self, moves: data.View) -> Value:
        """The rows of some moves."""
        return Cat(Cat(move.valid & (move.row == row) for move in moves).any() for row in range(self._rows))
