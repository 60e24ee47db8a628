"""Warp sides: the side of each warp's next full result, with `Alignment.WRITE` ([RADAIDEH], section 3.7.1)."""

from collections.abc import Iterable

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.rtl.shared import share


class WarpSides(wiring.Component):
    """The sides of results: one bit for each warp slot, which changes with each full result of the warp. All are right
    (0) after reset.

    Results that several latches take in one cycle count in the order of the latches. `left` is combinational. Which
    latches are ready is known late in a cycle. So that is the last thing that `left` depends on, and the bits change
    one cycle later; until then what changes them is looked up in a register.

    Parameters
    ----------
    config : numbers of warps and of pipes.

    Members
    -------
    full : the latches that have a full result for a register at their port.
    ready : the latches that take what is at their port.
    warp, old : for each latch, the warp of the result at its port, and the present side of its register.
    left : for each latch, the side of its result: a full one goes to that of its warp, another one stays where the
        register is.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._warps, self._latches = config.warps, len(config.pipes)
        super().__init__({
            "full": In(self._latches),
            "ready": In(self._latches),
            "warp": In(data.ArrayLayout(index_bits(config.warps), self._latches)),
            "old": In(self._latches),
            "left": Out(self._latches),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turned = TurnedSides(latches=self._latches)
        m.submodules.turned = share(platform, "turned_sides", turned, clocked=False)
        sides, taken = Signal(self._warps), Signal.like(self.full, name="taken")
        of = Signal.like(self.warp, name="taken_warp")
        for i, warp in enumerate(self.warp):
            side = Array(sides)[warp] ^ _turns(taken, of, warp)
            m.d.comb += [
                turned.first[i].eq(Mux(self.full[i], side, self.old[i])),
                *(turned.turns[i][j].eq(self.full[i] & self.full[j] & (self.warp[j] == warp)) for j in range(i)),
            ]
        m.d.comb += [turned.ready.eq(self.ready), self.left.eq(turned.left)]
        m.d.sync += [
            taken.eq(self.full & self.ready),
            of.eq(self.warp),
            sides.eq(sides ^ Cat(_turns(taken, of, warp) for warp in range(self._warps))),
        ]
        return m


class TurnedSides(wiring.Component):
    """The sides of results, from what is known before it is known which latches are ready.

    Parameters
    ----------
    latches : the number of latches.

    Members
    -------
    first : for each latch, the side of its result if no other latch takes one.
    turns : for each latch those that turn this side if they take their result.
    ready : the latches that take what is at their port.
    left : for each latch, the side of its result.
    """

    def __init__(self, *, latches: int) -> None:
        super().__init__({"first": In(latches), "turns": In(data.ArrayLayout(latches, latches)), "ready": In(latches),
                          "left": Out(latches)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turned = Cat((mask & self.ready).xor() for mask in self.turns)
        m.d.comb += self.left.eq(self.first ^ turned)
        return m


def _turns(full: Value, warps: Iterable[Value], warp: Value | int) -> Value:
    """Whether an odd number of these full results is of a warp."""
    return Cat(one & (other == warp) for one, other in zip(full, warps, strict=True)).xor()
