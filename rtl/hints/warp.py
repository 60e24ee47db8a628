"""What the hint unit has of a warp (docs/contract/hints.md, *What each warp has*; [HAWS], Figs. 5.5 and 5.6)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.isa import PC_BITS
from warploom.arch.order_hints import COLLECTED, REGISTER_BITS
from warploom.rtl.hints.interfaces import COLLECTION, HELD, JOIN, OFFSET, STACK
from warploom.rtl.interfaces import unstoppable
from warploom.rtl.observation import Shown
from warploom.rtl.select import lowest, merge_many

TAKEN = data.StructLayout({"held": HELD, "ready": 1, "linked": 1})
"""An instruction that takes an entry: `ready` if it waits for no result, `linked` if a warp that
passes the last entry passes this one too."""

POINT = data.StructLayout({"base": PC_BITS, "stack": STACK})
"""A stall point, and the stack entry there."""

SIDES = data.StructLayout({"join": JOIN, "first": 1})
"""Where sides join: the offset of the instruction before the reconvergence point, and whether it is on the way to the
first instruction of the group, or is this one."""

SETTLED = data.StructLayout({"point": POINT, "sides": SIDES})


class HintedWarp(wiring.Component):
    """The result collection unit of a warp, the stall point, the stack entry there, and the state, in flip-flops.

    Entries do not move. An instruction takes the lowest that is free, and none is taken between the first that leaves
    and the last. All inputs concern the end of the cycle.

    Parameters
    ----------
    config : the number of pipes.

    Members
    -------
    issued : an instruction of the warp issues.
    take : an instruction takes an entry.
    leave, passes : entries that leave if a warp passes any, which is known late.
    written : for each pipe, a register of the warp whose result is done.
    settle : the warp came to a stall point at the end of the cycle before; the point, and where sides join.
    tried, enters, returns : the warp may enter hint mode, enters it, returns from it.
    entries : the result collection unit.
    linked : entries that are passed together with the one before.
    first : the offset of the first entry.
    point, sides : the last stall point.
    away, waiting : the warp is in hint mode; it waits at the stall point, and has not been in hint mode there.
    """

    def __init__(self, *, config: SmConfig) -> None:
        super().__init__({
            "issued": In(1),
            "take": In(unstoppable(TAKEN)),
            "leave": In(COLLECTED),
            "passes": In(1),
            "written": In(unstoppable(REGISTER_BITS)).array(len(config.pipes)),
            "settle": In(unstoppable(SETTLED)),
            "tried": In(1),
            "enters": In(1),
            "returns": In(1),
            "entries": Out(COLLECTION),
            "linked": Out(COLLECTED),
            "first": Out(OFFSET),
            "point": Out(POINT),
            "sides": Out(SIDES),
            "away": Out(1),
            "waiting": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        held = [Signal(HELD, name=f"held_{place}", reset_less=True) for place in range(COLLECTED)]
        valid, ready, taken = (Signal(COLLECTED, name=name) for name in ("valid", "ready", "taken"))
        point, sides = Signal(POINT, reset_less=True), Signal(SIDES, reset_less=True)
        linked, waits = Signal(COLLECTED, reset_less=True), Signal()
        m.d.comb += [
            taken.eq(Mux(self.take.valid, lowest(~valid), 0)),
            self.linked.eq(linked),
            self.waiting.eq(waits | self.settle.valid),
            self.first.eq(merge_many(lowest(valid), [fields.offset for fields in held])),
            self.point.eq(point),
            self.sides.eq(sides),
        ]
        m.d.sync += [
            linked.eq(linked & ~taken | Mux(self.take.payload.linked, taken, 0)),
            valid.eq(Mux(self.passes, valid & ~self.leave, valid) | taken),
            ready.eq((ready | Cat(self._done(fields) for fields in held)) & ~taken
                     | Mux(self.take.payload.ready | self._done(self.take.payload.held), taken, 0)),
            self.away.eq((self.away | self.enters) & ~self.returns),
            waits.eq(self.waiting & ~self.issued & ~self.tried),
        ]
        for place, fields in enumerate(held):
            with m.If(taken[place]):
                m.d.sync += fields.eq(self.take.payload.held)
            m.d.comb += [self.entries[place][name].eq(fields[name]) for name in HELD.members]
            m.d.comb += [self.entries[place].ready.eq(ready[place]), self.entries[place].valid.eq(valid[place])]
        with m.If(self.settle.valid):
            m.d.sync += [point.eq(self.settle.payload.point), sides.eq(self.settle.payload.sides)]
        return m

    def _done(self, fields: data.View) -> Value:
        """Whether the result of an entry is done."""
        return Cat(each.valid & (each.payload == fields.renamed) for each in self.written).any()

    def observe(self) -> Shown:
        """See the contract: fields that do not matter are 0."""
        at_stall_point, entries = self.away | self.waiting, Cat(Mux(each.valid, each.as_value(), 0)
                                                                for each in self.entries)
        point = data.View(POINT, Mux(self.settle.valid, self.settle.payload.point.as_value(), self.point.as_value()))
        return {
            "away": self.away, "waiting": self.waiting,
            "base": Mux(at_stall_point | entries.any(), point.base, 0),
            "active": Mux(at_stall_point, point.stack.active, 0),
            "reconverge": Mux(at_stall_point, point.stack.reconverge, 0), "entries": entries,
        }
