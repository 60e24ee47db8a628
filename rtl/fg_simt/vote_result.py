"""The result of a vote, as an instruction (docs/contract/fg_simt.md, *Kernel mode*)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES
from warploom.arch.isa import NO_SLOT, PT, RZ, Op
from warploom.arch.modifiers import Vote
from warploom.rtl.fg_simt.instruction import INSTRUCTION, field


class VoteResult(wiring.Component):
    """Gives the lanes what they have voted for: a MOV of a constant, or a PLOP3 that is always true or never.
    Combinational.

    Members
    -------
    instruction : an instruction.
    mask : the active lanes.
    holds : those in which the predicate of a vote holds; lanes that are not active do not count.
    result : the instruction that goes to the lanes; others than votes as they are.
    """

    instruction: In(INSTRUCTION)
    mask: In(LANES)
    holds: In(LANES)
    result: Out(INSTRUCTION)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        i, result, vote = self.instruction, self.result, field(self.instruction, Op.VOTE, "vote")
        ballot, any_holds, all_hold, verdict = vote == Vote.BALLOT, Signal(), Signal(), Signal()
        members = Signal(LANES)
        m.d.comb += [
            result.eq(i),
            members.eq(self.mask & i.imm),
            any_holds.eq((members & self.holds).any()), all_hold.eq(~(members & ~self.holds).any()),
            verdict.eq(Mux(vote == Vote.ALL, all_hold, Mux(vote == Vote.ANY, any_holds, all_hold | ~any_holds))),
        ]
        with m.If(i.op == Op.VOTE.value):
            m.d.comb += [
                result.op.eq(Mux(ballot, Op.MOV.value, Op.PLOP3.value)),
                result.dst.eq(Mux(ballot, i.dst, RZ)), result.pdst.eq(Mux(ballot, PT, i.pdst)),
                *(result[f"src{slot}"].eq(RZ) for slot in range(3)),
                result.psrc.eq(PT), result.psrc_not.eq(0),
                result.imm.eq(members & self.holds), result.imm_slot.eq(Mux(ballot, 0, NO_SLOT)),
                result.modifiers.eq(Mux(ballot, 0, verdict.replicate(8))),
            ]
        return m
