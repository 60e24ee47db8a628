"""The micro-operation of an instruction (docs/contract/fg_simt.md, *Micro-operations*)."""

from amaranth import Module, Mux
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.fg_simt.micro import LANE_MODIFIER_BITS, Kind, Source, Unit
from warploom.arch.fg_simt.sizes import DIVISIONS, FIRST_SAU, LATENCY, SECOND_SAU
from warploom.arch.isa import PT, RZ, Op
from warploom.rtl.fg_simt.affine import AHEAD
from warploom.rtl.fg_simt.instruction import INSTRUCTION
from warploom.rtl.fg_simt.micro import MICRO, one_of
from warploom.rtl.interfaces import SLOTS

CARRYING = (Op.IADD, Op.ISUB, Op.IMAD)
"""Operations whose predicate operand is a carry: without one it holds in no lane."""


class MicroBuilder(wiring.Component):
    """The micro-operation of an instruction that goes to the lanes, without affine execution, and without what is known
    when it is executed: `pc`, `mask`, and the word of a shared load. The guard of a vote is the predicate that it
    collects. Combinational.

    Members
    -------
    instruction : the instruction.
    base, stride, walked : the value of the special register that an S2R reads, as `Threads` gives it.
    micro : the operation.
    shared : slots that get the word of a shared load.
    ahead : what affine execution uses of it a cycle before.
    """

    def __init__(self) -> None:
        super().__init__({
            "instruction": In(INSTRUCTION), "base": In(32), "stride": In(STRIDE_BITS), "walked": In(1),
            "micro": Out(MICRO), "shared": Out(SLOTS), "ahead": Out(AHEAD),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        i, micro = self.instruction, self.micro
        votes = i.op == Op.VOTE.value
        writes, no_carry = i.dst != RZ, one_of(i.op, CARRYING) & (i.psrc == PT)
        m.d.comb += [
            micro.op.eq(i.op), micro.modifiers.eq(i.modifiers[:LANE_MODIFIER_BITS]),
            micro.writes.eq(writes), micro.dst.eq(Mux(writes, i.dst, 0)), micro.pdst.eq(i.pdst),
            micro.guard.eq(Mux(votes, i.psrc, i.guard)), micro.guard_not.eq(Mux(votes, i.psrc_not, i.guard_not)),
            micro.pred.eq(i.psrc), micro.pred_not.eq(i.psrc_not | no_carry),
            self.ahead.op.eq(micro.op), self.ahead.modifiers.eq(micro.modifiers),
        ]
        for numbers, named in (
            (self.ahead.registers, (i.src0, i.src1, i.src2, micro.dst)),
            (self.ahead.predicates, (micro.guard, micro.pred, micro.pdst)),
        ):
            m.d.comb += [number.eq(name) for number, name in zip(numbers, named, strict=True)]
        self._choose_unit(m)
        for slot, operand in enumerate(micro.operands):
            self._find(m, slot, operand)
        with m.If(i.op == Op.S2R.value):
            m.d.comb += [micro.op.eq(Op.MOV.value), micro.modifiers.eq(0)]
        return m

    def _choose_unit(self, m: Module) -> None:
        """Unit and latency; an access has an offset."""
        i, micro = self.instruction, self.micro
        m.d.comb += [micro.kind.eq(Kind.ACCESS), micro.unit.eq(Unit.SGU), micro.latency.eq(1), micro.offset.eq(i.imm)]
        with m.Switch(i.op):
            for op, latency in LATENCY.items():
                with m.Case(op.value):
                    m.d.comb += [micro.kind.eq(Kind.COMPUTE), micro.unit.eq(_unit(op)), micro.latency.eq(latency),
                                 micro.offset.eq(0)]

    def _find(self, m: Module, slot: int, operand: data.View) -> None:
        """Where the operand of a slot is."""
        i = self.instruction
        number = i[f"src{slot}"]
        with m.If(i.op == Op.PLOP3.value):
            m.d.comb += [operand.source.eq(Source.PREDICATE), operand.base.eq(Mux(number < PT, number, PT))]
        with m.Elif((i.op == Op.S2R.value) & (slot == 0)):
            m.d.comb += [operand.source.eq(Mux(self.walked, Source.POSITION, Source.CONSTANT)),
                         operand.base.eq(self.base), operand.stride.eq(self.stride)]
        with m.Elif(i.imm_slot == slot):
            m.d.comb += [operand.base.eq(i.imm), self.shared[slot].eq(i.param)]
        with m.Elif(number != RZ):
            m.d.comb += [operand.source.eq(Source.REGISTER), operand.base.eq(number)]


def _unit(op: Op) -> Unit:
    if op in DIVISIONS:
        return Unit.DIVIDE
    return Unit.FIRST if op in FIRST_SAU else Unit.SECOND if op in SECOND_SAU else Unit.EITHER
