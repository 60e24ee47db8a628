"""Decoded instructions of a kernel, between fetch and execution (docs/contract/fg_simt.md, *Kernel mode*)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import WORD_BITS, response_fields
from warploom.rtl.fg_simt.decode import KernelDecoder, Role
from warploom.rtl.fg_simt.fetch import INSTRUCTION_BITS
from warploom.rtl.fg_simt.instruction import INSTRUCTION
from warploom.rtl.fg_simt.shared_loads import NUMBER_BITS
from warploom.rtl.interfaces import struct, unstoppable

ENTRY = data.StructLayout({"instruction": INSTRUCTION, "error": 1, "legal": 1, "role": Role,
                           "number": NUMBER_BITS, "hit": 1, "word": WORD_BITS})
"""A decoded instruction. It could not be fetched; a kernel may have it; what it is for the control processor; of its
shared load the number of the word, whether it is known, and the word. All but `error` are unspecified with `error`."""


class DecodedQueue(wiring.Component):
    """Two entries. Takes instructions from the fetch queue and decodes them; what is taken in t may be executed in
    t + 1.

    `take` and `next` are functions of registers, `take` of `first.valid` and `on`, too.

    Members
    -------
    on : a kernel is executed.
    drop : the queue is empty at the end of the cycle, and what is taken is dropped.
    first, take : the first instruction of the fetch queue; it is taken.
    parameters : byte address of the parameter bank.
    number, hit, word : the number of the word of a shared load; whether the cache has it, and the word.
    load, loaded : the word of the first decoded instruction, which stays, has come.
    next : the first decoded instruction; `ready` if it is over at the end of the cycle.
    replacement, ballot : a vote that is over is not followed by the next instruction, but replaced by this one with
        data for the lanes, whose word is the ballot.
    following, votes, advance : the instruction behind the first one, if there is one. If `advance`, it is the first one
        from the next cycle on, or, if the first one `votes`, the replacement.
    """

    on: In(1)
    drop: In(1)
    first: In(unstoppable(struct(response_fields(INSTRUCTION_BITS))))
    take: Out(1)
    parameters: In(WORD_BITS)
    number: Out(NUMBER_BITS)
    hit: In(1)
    word: In(WORD_BITS)
    load: In(1)
    loaded: In(WORD_BITS)
    next: Out(stream.Signature(ENTRY))
    replacement: In(INSTRUCTION)
    ballot: In(WORD_BITS)
    following: Out(INSTRUCTION)
    votes: Out(1)
    advance: Out(1)

    def __init__(self) -> None:
        super().__init__()
        self.decoder = KernelDecoder()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.decoder = decoder = self.decoder
        entry, address = Signal(ENTRY), Signal(WORD_BITS)
        held, second = (Signal(ENTRY, name=name, reset_less=True) for name in ("held", "second"))
        behind = Signal(ENTRY)
        waits, leaves = Signal(), Signal()  # there is a second one; the first one leaves, or there is none
        m.d.comb += [
            entry.instruction.eq(self.first.payload.data), entry.error.eq(self.first.payload.error),
            decoder.instruction.eq(entry.instruction), entry.legal.eq(decoder.legal), entry.role.eq(decoder.role),
            address.eq(self.parameters + entry.instruction.imm), self.number.eq(address[2:]),
            entry.number.eq(self.number), entry.hit.eq(self.hit), entry.word.eq(self.word),
            self.take.eq(self.on & self.first.valid & ~waits), self.next.payload.eq(held),
            self.votes.eq(self.next.valid & (held.role == Role.VOTE)),
            self.advance.eq(~self.next.valid | self.next.ready), leaves.eq(self.advance & ~self.votes),
            behind.eq(Mux(waits, second.as_value(), entry.as_value())), self.following.eq(behind.instruction),
        ]
        with m.If(~waits):
            m.d.sync += second.eq(entry)
        replaced = Signal(ENTRY)
        m.d.comb += [replaced.eq(held), replaced.instruction.eq(self.replacement), replaced.role.eq(Role.DATA),
                     replaced.hit.eq(1), replaced.word.eq(self.ballot)]
        with m.If(self.advance):
            m.d.sync += held.eq(Mux(self.votes, replaced.as_value(), behind.as_value()))
        with m.Elif(self.load):
            m.d.sync += [held.hit.eq(1), held.word.eq(self.loaded)]
        m.d.sync += [self.next.valid.eq(~leaves | waits | self.take), waits.eq(~leaves & (waits | self.take))]
        with m.If(self.drop):
            m.d.sync += [self.next.valid.eq(0), waits.eq(0)]
        return m
