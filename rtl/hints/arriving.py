"""The stall point to which a warp came in the cycle before: where its group begins, and where sides join."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.isa import PC_BITS
from warploom.arch.order_hints import TARGET_BITS
from warploom.rtl.hints.interfaces import JOIN, OFFSET
from warploom.rtl.hints.warp import POINT, SIDES

ARRIVED = data.StructLayout({"point": POINT, "target": OFFSET})


class Arriving(wiring.Component):
    """Combinational.

    Members
    -------
    arrived : the stall point, the stack entry there, and the target of its hint.
    pc : the first instruction of the group.
    sides : see `HintedWarp`.
    """

    def __init__(self) -> None:
        super().__init__({"arrived": In(ARRIVED), "pc": Out(PC_BITS), "sides": Out(SIDES)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        point, target = self.arrived.point, self.arrived.target
        limit = 1 << TARGET_BITS - 1
        distance, join = Signal(PC_BITS + 1), Signal(JOIN)
        m.d.comb += [
            distance.eq(point.stack.reconverge - point.base - 1),
            join.eq(Mux(distance.as_signed() >= limit, limit,
                        Mux(distance.as_signed() < -limit, -limit - 1, distance.as_signed()))),
            self.pc.eq(point.base + target),
            self.sides.join.eq(join),
            self.sides.first.eq((distance.as_signed() >= 0) & (join <= target)),
        ]
        return m
