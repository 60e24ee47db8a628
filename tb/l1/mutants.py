"""Planted bugs in the engine's L1: each bench must catch its own."""

from collections.abc import Callable
from typing import Any

from amaranth import Const, Module, Mux, Value
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.arch.l1 import LINE_BYTES, Operation
from warploom.rtl.l1.bank import CacheBank
from warploom.tb.l1.test_bank import BANK
from warploom.tb.mutants import Mutant, Tampered

Change = Callable[[Any, Module], None]


def changed(unit: wiring.Component, change: Change) -> wiring.Component:
    """A unit with statements that replace some of its own."""
    correct = unit.elaborate

    def elaborate(platform: object) -> Module:
        m: Module = correct(platform)
        change(unit, m)
        return m

    unit.elaborate = elaborate
    return unit


def _bank(bug: str, make: Callable[[CacheBank], wiring.Component]) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return make(CacheBank(**BANK))

    return Mutant("CacheBank", "warploom.tb.l1.test_bank", bug, made)


def _driven(bug: str, change: Change) -> Mutant:
    return _bank(bug, lambda bank: changed(bank, change))


def _input(bug: str, port: str, value: Callable[[Any], Value]) -> Mutant:
    return _bank(bug, lambda bank: Tampered(bank, lambda o, m: {port: value(o)}))


def _masked(outer: Any) -> Value:
    """A request whose mask has all bytes."""
    request = outer.request.payload
    layout = request.shape()
    ones = Const((1 << LINE_BYTES) - 1, LINE_BYTES)
    return Value.cast(request) | ones << layout["mask"].offset


def _signed(bank: Any, m: Module) -> None:
    atomic = m.submodules.atomic
    own = bank._own.operation
    m.d.comb += atomic.operation.eq(Mux(own == Operation.UMAX, Operation.MAX, own))


def _always_swaps(bank: Any, m: Module) -> None:
    m.d.comb += m.submodules.atomic.compare.eq(bank._old)


def _stops_early(bank: Any, m: Module) -> None:
    """The last two rows are not visited."""
    with m.If(bank._fsm.ongoing("CLEAR") & (bank._walk == bank._lines - 3) & ~bank._fresh):
        m.d.sync += bank._walk.eq(0)
        m.d.sync += [bank._sweeping.eq(0), bank.busy.eq(0)]


def _keeps_lines(bank: Any, m: Module) -> None:
    with m.If(bank._fsm.ongoing("CLEAR") & ~bank._fresh):
        m.d.comb += bank._entry_write.eq(0)


def _last_failure(bank: Any, m: Module) -> None:
    with m.If(bank._fsm.ongoing("WRITTEN") & bank._sweeping & bank.memory.written.valid & bank.memory.written.error):
        m.d.sync += bank.failed_line.eq(bank._line_of(bank._victim.tag, bank._index))


def _clean_fill(bank: Any, m: Module) -> None:
    with m.If(bank._fsm.ongoing("FILL")):
        m.d.comb += bank._new.dirty.eq(0)


def _forgotten_error(bank: Any, m: Module) -> None:
    with m.If(bank._fsm.ongoing("FILL")):
        m.d.comb += bank._new.valid.eq(1)


MUTANTS = (
    _input("writes bytes that are not in the mask", "request__payload", _masked),
    _input("does not see errors of writes", "memory__written__error", lambda o: Const(0)),
    _input("does not see errors of beats", "memory__beat__error", lambda o: Const(0)),
    _input("ignores flushes", "flush", lambda o: Const(0)),
    _input("answers with another bank's number", "number", lambda o: o.number ^ 1),
    _driven("ignores the highest bit of the tag", lambda bank, m: m.d.comb.__iadd__(
        bank._hit.eq(bank._victim.valid & ((bank._victim.tag ^ bank._tag_of(bank._own.address))[:-1] == 0)))),
    _driven("hits entries that are not valid", lambda bank, m: m.d.comb.__iadd__(
        bank._hit.eq(bank._victim.tag == bank._tag_of(bank._own.address)))),
    _driven("does not see that the queue of answers is full", lambda bank, m: m.d.comb.__iadd__(bank._room.eq(1))),
    _driven("takes requests during a flush", lambda bank, m: m.d.comb.__iadd__(bank.request.ready.eq(bank._free))),
    _driven("reads the word of the next request", lambda bank, m: m.d.comb.__iadd__(bank._word.eq(
        bank._rows.read_data.word_select(bank._word_number(), 32)))),
    _driven("does not mark a line that a write brought", _clean_fill),
    _driven("keeps a line that memory refused", _forgotten_error),
    _driven("takes UMAX for MAX", _signed),
    _driven("swaps always", _always_swaps),
    _driven("does not flush the last rows", _stops_early),
    _driven("keeps lines that were flushed", _keeps_lines),
    _driven("reports the last failure of a flush", _last_failure),
)
