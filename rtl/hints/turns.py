"""The warps that turn to or from hint mode at the end of a cycle (docs/contract/hints.md, *Entering*)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl.sizes import check_positive


class Turns(wiring.Component):
    """Combinational; a bit for each warp in all members but `ended` and `settled`, which come late in the cycle.

    Parameters
    ----------
    warps : number of warps.

    Members
    -------
    away, waiting, joins : state of the warps; sides join before the first instruction of the group.
    settles, settled : the warp came to its stall point in the cycle before; if so, `settled` takes the place of its
        `joins`.
    issued, ended : an instruction of the warp issues; if it is in hint mode, hint mode ends with it.
    ready, other_ready, memory : see the contract.
    tried : the warp may enter hint mode, or its sides join first.
    enters, returns : the warp enters hint mode, returns to its stall point.

    Raises
    ------
    ValueError
        If `warps` is 0.
    """

    def __init__(self, *, warps: int) -> None:
        check_positive(warps=warps)
        self._warps = warps
        super().__init__({
            **{name: In(warps) for name in ("away", "waiting", "joins", "settles", "issued", "ready",
                                           "other_ready", "memory")},
            **dict.fromkeys(("ended", "settled"), In(1)),
            **{name: Out(warps) for name in ("tried", "enters", "returns")},
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        resolved, able, issuing, idle = Signal(self._warps), Signal(self._warps), Signal(2), Signal()
        (may, enter), (may_settled, enter_settled) = (
            self._may(m, (self.joins & ~self.settles) | late, name)
            for late, name in ((0, "apart"), (self.settles, "joined")))
        m.d.comb += [
            resolved.eq(self.away & ~self.memory),
            able.eq(resolved & self.other_ready | ~resolved & self.ready),
            # whether the warp of the instruction may issue: if hint mode goes on, and if it ends
            issuing.eq(Cat((able & self.issued).any(),
                           (self.issued & (self.away & self.other_ready | ~self.away & self.ready)).any())),
            idle.eq(~(able & ~self.issued).any() & ~Mux(self.ended, issuing[1], issuing[0])),
            self.returns.eq(resolved | Mux(self.ended, self.issued & self.away, 0)),
            self.tried.eq(Mux(idle, Mux(self.settled, may_settled, may), 0)),
            self.enters.eq(Mux(idle, Mux(self.settled, enter_settled, enter), 0)),
        ]
        return m

    def _may(self, m: Module, joins: Value, name: str) -> tuple[Signal, Signal]:
        """The warps that may enter if no warp may issue, and those of them whose sides do not join first."""
        held, first, may, enter = (Signal(self._warps, name=f"{signal}_{name}")
                                   for signal in ("held", "first", "may", "enter"))
        m.d.comb += [
            held.eq(self.waiting & self.memory & ~self.issued),
            first.eq(held & ~joins & self.other_ready),
            may.eq(Cat(held[warp] & ~first[:warp].any() for warp in range(self._warps))),
            enter.eq(may & ~joins),
        ]
        return may, enter
