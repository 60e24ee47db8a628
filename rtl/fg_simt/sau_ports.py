"""What SAUs and SLU take and give (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data

from warploom.arch.fg_simt.micro import LANE_MODIFIER_BITS
from warploom.arch.fg_simt.sizes import GROUPS, LANES
from warploom.rtl.fg_simt.coalesce import SIZE_BITS
from warploom.rtl.fg_simt.issue_ports import PREDICATE, REGISTER
from warploom.rtl.fg_simt.memory_ports import WORDS

GROUP = data.StructLayout({
    "op": 8, "modifiers": LANE_MODIFIER_BITS, "a": WORDS, "b": WORDS, "c": WORDS, "pred": LANES, "execute": LANES,
    "group": range(GROUPS), "destination": REGISTER, "predicate": PREDICATE})
"""Eight threads of an operation in t + 1 + g, t + 1 + 16g of a division: operand words, forwarded ones too; `pred`, the
predicate operand of each lane, its inversion applied; `execute`, the executing lanes, those of mask and guard; what is
written, if anything. A collect writes nothing."""

RESULT = data.StructLayout({
    "group": range(GROUPS), "destination": REGISTER, "predicate": PREDICATE, "execute": LANES,
    "words": WORDS, "verdicts": LANES})
"""Results of a group: register and predicate are valid if there is a result for them in this cycle. Lanes that do not
`execute` keep what they have."""

EXTENSION = data.StructLayout({"size": SIZE_BITS, "signed": 1})
"""What the SLU needs of a load beside its register: bytes of an element as logarithm (2 of an atomic), and whether it
is extended with its sign."""


def written(m: Module, result: data.View) -> data.View:
    """A result in the cycle after it is there."""
    late, write, valid = Signal(RESULT, name="late", reset_less=True), Signal(RESULT, name="written"), Signal(2)
    m.d.sync += [late.eq(result), valid.eq(Cat(result.destination.valid, result.predicate.valid))]
    m.d.comb += [write.eq(late), write.destination.valid.eq(valid[0]), write.predicate.valid.eq(valid[1])]
    return write
