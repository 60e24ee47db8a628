"""Reorder buffer of a port (docs/contract/l1.md, *Crossbars*)."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import SLOT_BITS, SLOTS, response_fields
from warploom.rtl.interfaces import struct
from warploom.rtl.l1.ports import assert_rule, assert_stable, request_stream
from warploom.rtl.shared import is_fpga


class ReorderBuffer(wiring.Component):
    """Answers that come in any order leave in the order in which their slots were taken.

    Parameters
    ----------
    bits : data of an answer.
    probe : the rules of its slots and of its stream are asserted.

    Members
    -------
    take : a request takes the next slot; only if it is free.
    free, slot : whether the next slot is free, and its number.
    fill, filled, answer : an answer comes, its slot, and its fields; only if the slot waits for one.
    response : the stream of answers.
    """

    def __init__(self, *, bits: int, probe: bool = False) -> None:
        self._layout, self._probe = struct(response_fields(bits)), probe
        super().__init__({
            "take": In(1),
            "free": Out(1),
            "slot": Out(SLOT_BITS),
            "fill": In(1),
            "filled": In(SLOT_BITS),
            "answer": In(self._layout),
            "response": Out(request_stream(response_fields(bits))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        answers = None if is_fpga(platform) else Signal(data.ArrayLayout(self._layout, SLOTS), reset_less=True)
        present, oldest, used, leaves = Signal(SLOTS), Signal(SLOT_BITS), Signal(range(SLOTS + 1)), Signal()
        m.d.comb += [
            self.free.eq(used != SLOTS),
            self.response.valid.eq(present.bit_select(oldest, 1)),
            self.response.payload.eq(self._stored(m, oldest) if answers is None else answers[oldest]),
            leaves.eq(self.response.valid & self.response.ready),
        ]
        m.d.sync += [used.eq(used + self.take - leaves), self.slot.eq(self.slot + self.take),
                     oldest.eq(oldest + leaves)]
        for number in range(SLOTS):
            comes = self.fill & (self.filled == number)
            m.d.sync += present[number].eq(comes | (present[number] & ~(leaves & (oldest == number))))
            if answers is not None:
                with m.If(comes):
                    m.d.sync += answers[number].eq(self.answer)
        if self._probe:
            assert_stable(m, self.response, "answer")
            assert_rule(m, ~self.take | self.free, "a request takes a slot, and none is free")
            ahead = (self.filled - oldest)[:SLOT_BITS]  # slots in use that are older than the one that is filled
            assert_rule(m, ~self.fill | (ahead < used), "an answer comes for a slot that is not in use")
            assert_rule(m, ~self.fill | ~present.bit_select(self.filled, 1), "a slot is answered twice")
        return m

    def _stored(self, m: Module, oldest: Signal) -> Value:
        """The oldest answer, from a memory."""
        m.submodules.answers = answers = Memory(shape=self._layout, depth=SLOTS, init=())
        writer, reader = answers.write_port(), answers.read_port(domain="comb")
        m.d.comb += [writer.addr.eq(self.filled), writer.data.eq(self.answer), writer.en.eq(self.fill),
                     reader.addr.eq(oldest)]
        return Value.cast(reader.data)
