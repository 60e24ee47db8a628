"""Instructions between the instruction cache and the control processor (docs/contract/fg_simt.md, *Fetch*)."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import FETCH_ENTRIES, FETCH_REQUESTS
from warploom.arch.isa import PC_BITS
from warploom.arch.l1 import ADDRESS_BITS, FETCH_FIELDS, response_fields
from warploom.rtl.interfaces import unstoppable
from warploom.rtl.l1.ports import assert_rule, request_stream
from warploom.rtl.observation import Shown, probe_port, show

INSTRUCTION_BITS = 128
OFFSET_BITS = 4
"""Bits of the byte in an instruction."""


class Fetch(wiring.Component):
    """A queue of instructions, and the requests for the next ones. Answers may come after any latency.

    `first` and the address of a request are functions of registers. A request is `valid` only if the cache is `ready`,
    which is a function of registers, too: so no offer waits, and a redirect changes none.

    Parameters
    ----------
    probe : for benches: shows the observed values, and asserts the rules of requests and answers.

    Members
    -------
    redirect, pc, base : from the next cycle on, the instruction at this PC of code at this address (a multiple of 16)
        is requested, and what follows.
    stop : nothing is requested until the next redirect; in a cycle with both the redirect holds.
    request, answer : the instruction cache: requests; answers, in the same order.
    first : the first instruction of the queue.
    """

    def __init__(self, *, probe: bool = False) -> None:
        self._entry, self._probe = data.StructLayout(dict(response_fields(INSTRUCTION_BITS))), probe
        self._next, self._base, self._on = Signal(PC_BITS), Signal(ADDRESS_BITS), Signal()
        self.level, self.outstanding = Signal(range(FETCH_ENTRIES + 1)), Signal(range(FETCH_REQUESTS + 1))
        """Instructions in the queue; requests without an answer."""
        self.used, self.disowned = Signal(range(FETCH_ENTRIES + 1)), Signal(range(FETCH_REQUESTS + 1))
        """The queue and own requests; requests of before a redirect."""
        self.oldest, self.newest = Signal(range(FETCH_ENTRIES)), Signal(range(FETCH_ENTRIES))
        self.arrives = Signal()
        super().__init__({
            "redirect": In(1), "pc": In(PC_BITS), "base": In(ADDRESS_BITS), "stop": In(1),
            "request": Out(request_stream(FETCH_FIELDS)), "answer": In(unstoppable(self._entry)),
            "first": Out(stream.Signature(self._entry)),
            **(probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        used, disowned, arrives = self.used, self.disowned, self.arrives
        asks, leaves = Signal(), Signal()
        # which one is next is chosen from registers, since a redirect comes late
        redirected, target, behind = Signal(), Signal(PC_BITS), Signal(PC_BITS)
        left = Signal(range(FETCH_REQUESTS + 1))
        m.d.comb += [
            asks.eq(self._on & (used != FETCH_ENTRIES) & (self.outstanding != FETCH_REQUESTS) & self.request.ready),
            self.request.valid.eq(asks),
            self.request.payload.address.eq(self._base + Cat(Const(0, OFFSET_BITS), self._next)),
            arrives.eq(self.answer.valid & (disowned == 0)),
            leaves.eq(self.first.valid & self.first.ready),
            self._next.eq(Mux(redirected, target, behind)),
            left.eq(self.outstanding + asks - self.answer.valid),
        ]
        m.d.sync += [
            self.outstanding.eq(left),
            disowned.eq(disowned - (self.answer.valid & (disowned != 0))), used.eq(used + asks - leaves),
            self.level.eq(self.level + arrives - leaves),
            redirected.eq(self.redirect), target.eq(self.pc), behind.eq(Mux(self.stop, 0, self._next + asks)),
            self._on.eq(self.redirect | (self._on & ~self.stop)),
        ]
        forget = [disowned.eq(left), used.eq(0), self.level.eq(0)]
        with m.If(self.stop):
            m.d.sync += forget
        with m.If(self.redirect):  # the last one, since it comes late
            m.d.sync += [*forget, self._base.eq(self.base)]
        self._queue(m, leaves)
        if self._probe:
            show(m, self)
            self._assert_rules(m)
        return m

    def _queue(self, m: Module, leaves: Signal) -> None:
        """The entries, in a ring."""
        entries = Signal(data.ArrayLayout(self._entry, FETCH_ENTRIES), reset_less=True)
        oldest, newest, arrives = self.oldest, self.newest, self.arrives
        m.d.comb += [self.first.valid.eq(self.level != 0), self.first.payload.eq(entries[oldest])]
        m.d.sync += oldest.eq(Mux(self.redirect | self.stop, newest + arrives, oldest + leaves))
        with m.If(arrives):
            m.d.sync += [entries[newest].eq(self.answer.payload), newest.eq(newest + 1)]

    def _assert_rules(self, m: Module) -> None:
        """Stop a simulation in which the ports are used against their rules."""
        assert_rule(m, ~self.request.valid | self.request.ready, "fetch offers a request that is not taken")
        assert_rule(m, ~self.answer.valid | (self.outstanding != 0), "the cache answered without a request")

    def observe(self) -> Shown:
        """See the contract."""
        return {"fetch_pc": self._next, "fetch_queue": self.level, "fetch_outstanding": self.outstanding}
