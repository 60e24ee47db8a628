"""What SAUs and SLU take and give (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data

from warploom.arch.fg_simt.micro import LANE_MODIFIER_BITS
from warploom.arch.fg_simt.sizes import Sizes
from warploom.rtl.fg_simt.coalesce import SIZE_BITS
from warploom.rtl.fg_simt.issue_ports import PREDICATE, REGISTER
from warploom.rtl.fg_simt.memory_ports import words

EXTENSION = data.StructLayout({"size": SIZE_BITS, "signed": 1})
"""What the SLU needs of a load beside its register: bytes of an element as logarithm (2 of an atomic), and whether it
is extended with its sign."""


def group(sizes: Sizes) -> data.StructLayout:
    """A thread in each lane, of an operation in t + 1 + g, t + 1 + 16g of a division: operand words, forwarded ones
    too; `pred`, the predicate operand of each lane, its inversion applied; `execute`, the executing lanes, those of
    mask and guard; what is written, if anything. A collect writes nothing."""
    return data.StructLayout({
        "op": 8, "modifiers": LANE_MODIFIER_BITS, "a": words(sizes), "b": words(sizes), "c": words(sizes),
        "pred": sizes.lanes, "execute": sizes.lanes, "group": range(sizes.groups), "destination": REGISTER,
        "predicate": PREDICATE})


def result(sizes: Sizes) -> data.StructLayout:
    """Results of a group: register and predicate are valid if there is a result for them in this cycle. Lanes that do
    not `execute` keep what they have."""
    return data.StructLayout({
        "group": range(sizes.groups), "destination": REGISTER, "predicate": PREDICATE, "execute": sizes.lanes,
        "words": words(sizes), "verdicts": sizes.lanes})


def written(m: Module, given: data.View) -> data.View:
    """A result in the cycle after it is there."""
    late, write = Signal(given.shape(), name="late", reset_less=True), Signal(given.shape(), name="written")
    valid = Signal(2)
    m.d.sync += [late.eq(given), valid.eq(Cat(given.destination.valid, given.predicate.valid))]
    m.d.comb += [write.eq(late), write.destination.valid.eq(valid[0]), write.predicate.valid.eq(valid[1])]
    return write
