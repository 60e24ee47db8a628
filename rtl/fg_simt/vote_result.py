"""The result of a vote, as an instruction (docs/contract/fg_simt.md, *Kernel mode*)."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES
from warploom.arch.isa import NO_SLOT, PT, RZ, Op
from warploom.arch.modifiers import Vote
from warploom.rtl.fg_simt.instruction import INSTRUCTION, field


class VoteResult(wiring.Component):
    """Gives the lanes what they have voted for: a MOV of the word of a shared load, or a PLOP3 that is always true or
    never. Combinational.

    Members
    -------
    instruction : an instruction.
    own, joins, joining : the active lanes: `own`, and if it `joins` those of another fragment, which is known late.
    holds : those in which the predicate of a vote holds; lanes that are not active do not count.
    result, ballot : the instruction that goes to the lanes, others than votes as they are; its word.
    """

    instruction: In(INSTRUCTION)
    own: In(LANES)
    joins: In(1)
    joining: In(LANES)
    holds: In(LANES)
    result: Out(INSTRUCTION)
    ballot: Out(LANES)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        i, result, vote = self.instruction, self.result, field(self.instruction, Op.VOTE, "vote")
        counts, any_holds, all_hold, verdict = vote == Vote.BALLOT, Signal(), Signal(), Signal()
        hold, hold_not = i.imm & self.holds, i.imm & ~self.holds
        m.d.comb += [
            result.eq(i), self.ballot.eq((self.own | (self.joining & self.joins.replicate(LANES))) & hold),
            any_holds.eq(self._has(hold)), all_hold.eq(~self._has(hold_not)),
            verdict.eq(Mux(vote == Vote.ALL, all_hold, Mux(vote == Vote.ANY, any_holds, all_hold | ~any_holds))),
        ]
        with m.If(i.op == Op.VOTE.value):
            m.d.comb += [
                result.op.eq(Mux(counts, Op.MOV.value, Op.PLOP3.value)),
                result.dst.eq(Mux(counts, i.dst, RZ)), result.pdst.eq(Mux(counts, PT, i.pdst)),
                *(result[f"src{slot}"].eq(RZ) for slot in range(3)),
                result.psrc.eq(PT), result.psrc_not.eq(0),
                result.imm_slot.eq(Mux(counts, 0, NO_SLOT)), result.param.eq(counts),
                result.modifiers.eq(Mux(counts, 0, verdict.replicate(8))),
            ]
        return m

    def _has(self, lanes: Value) -> Value:
        """Whether one of these lanes is active."""
        return (self.own & lanes).any() | (self.joins & (self.joining & lanes).any())
