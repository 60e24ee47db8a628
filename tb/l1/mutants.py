"""Planted bugs in the engine's L1: each bench must catch its own."""

from collections.abc import Callable
from typing import Any, cast

from amaranth import Const, Module, Mux, Value
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.arch.l1 import LINE_BYTES, Operation
from warploom.rtl.l1.bank import CacheBank
from warploom.rtl.l1.bus import AxiMaster
from warploom.rtl.l1.crossbars import RequestCrossbar, ResponseCrossbar
from warploom.rtl.l1.data_cache import DataCache
from warploom.rtl.l1.operations import AtomicUnit
from warploom.rtl.l1.reorder import ReorderBuffer
from warploom.rtl.l1.round_robin import RoundRobin
from warploom.rtl.l1.whole import L1
from warploom.tb.l1.requests import PORTS
from warploom.tb.l1.test_bank import BANK
from warploom.tb.l1.test_data_cache import SMALL as SMALL_CACHE
from warploom.tb.l1.test_whole import SMALL as SMALL_L1
from warploom.tb.mutants import Mutant, Part, Tampered

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


def _bank(bug: str, make: Callable[[CacheBank], wiring.Component], part: Part | None = None) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return make(CacheBank(**BANK))

    return Mutant("CacheBank", "warploom.tb.l1.test_bank", bug, made, part=part)


def _driven(bug: str, change: Change, part: Part | None = None) -> Mutant:
    return _bank(bug, lambda bank: changed(bank, change), part)


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


def _merges(atomic: Any, m: Module) -> None:
    with m.If(atomic.operation == Operation.AND):
        m.d.comb += atomic.result.eq(atomic.old | atomic.data)


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


def in_part(name: str, change: Change) -> Change:
    """A change of a part."""
    return lambda unit, m: changed(getattr(m.submodules, name), change) and None


def _data_cache(bug: str, change: Change, part: Part | None = None) -> Mutant:
    return Mutant("DataCache", "warploom.tb.l1.test_data_cache", bug,
                  lambda config: changed(DataCache(**SMALL_CACHE), change), part=part)


def _requests(bug: str, change: Change, part: Part = RequestCrossbar) -> Mutant:
    return _data_cache(bug, in_part("requests", change), part)


def _responses(bug: str, change: Change, part: Part = ResponseCrossbar) -> Mutant:
    return _data_cache(bug, in_part("responses", change), part)


def _bus(bug: str, change: Change) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        unit: Any = L1(**SMALL_L1)
        changed(unit._bus, change)
        return cast(wiring.Component, unit)

    return Mutant("L1", "warploom.tb.l1.test_whole", bug, made, part=AxiMaster)


def _same_slots(cache: Any, m: Module) -> None:
    """Port 1 gets the slot numbers of port 0."""
    m.d.comb += m.submodules.requests.slot[1].eq(m.submodules.responses.slot[0])


def _more_slots(cache: Any, m: Module) -> None:
    m.d.comb += m.submodules.requests.free.eq(-1)


def _stuck(choice: str) -> Change:
    """A round robin in which nobody counts as served."""
    def change(part: Any, m: Module) -> None:
        m.d.comb += getattr(m.submodules, choice).served.eq(0)

    return change


def _repeats(choice: Any, m: Module) -> None:
    """The one that was served last is the first of the next turn, too."""
    with m.If(choice.served & choice.request.any()):
        m.d.sync += choice.start.eq(choice.grant)


def _one_slot(buffer: Any, m: Module) -> None:
    m.d.sync += buffer.slot.eq(0)


def _silent_errors(responses: Any, m: Module) -> None:
    m.d.comb += [getattr(m.submodules, f"buffer_{port}").answer.error.eq(0) for port in range(PORTS)]


def _lost_answers(responses: Any, m: Module) -> None:
    m.d.comb += [bank.ready.eq(1) for bank in responses.banks]
    for port in range(PORTS):
        choice = getattr(m.submodules, f"choice_{port}")
        m.d.comb += getattr(m.submodules, f"buffer_{port}").fill.eq(choice.grant[:4].any())


def _early_address(bus: Any, m: Module) -> None:
    """The address of a write ends after a cycle."""
    with m.If(bus.axi.awvalid):
        m.d.sync += bus.axi.awvalid.eq(0)


def _half_written(bus: Any, m: Module) -> None:
    m.d.comb += bus.axi.wstrb.eq(0x0F)


def _short_burst(bus: Any, m: Module) -> None:
    m.d.comb += bus.axi.arlen.eq(2)


def _blind(bus: Any, m: Module) -> None:
    m.d.comb += [bank.written.error.eq(0) for bank in bus.banks]


def _confused(bus: Any, m: Module) -> None:
    """Bank 0 gets the beats of the instruction cache, too."""
    m.d.comb += bus.banks[0].beat.valid.eq(bus.axi.rvalid & (bus.axi.rid[:3] == 0))


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
    _driven("takes AND for OR", in_part("atomic", _merges), AtomicUnit),
    _driven("swaps always", _always_swaps),
    _driven("does not flush the last rows", _stops_early),
    _driven("keeps lines that were flushed", _keeps_lines),
    _driven("reports the last failure of a flush", _last_failure),
    _data_cache("gives port 1 the slots of port 0", _same_slots),
    _data_cache("sends requests without a free slot", _more_slots),
    _requests("does not give the ports of bank 0 turns", _stuck("choice_0")),
    _requests("gives a port two turns", in_part("choice_0", _repeats), RoundRobin),
    _responses("does not give the banks turns", _stuck("choice_9")),
    _responses("does not pass errors", _silent_errors),
    _responses("loses answers of the upper banks", _lost_answers),
    _responses("gives all requests of port 0 one slot", in_part("buffer_0", _one_slot), ReorderBuffer),
    _bus("ends an address before it is taken", _early_address),
    _bus("writes half of each beat", _half_written),
    _bus("reads three beats", _short_burst),
    _bus("does not see errors of writes", _blind),
    _bus("gives beats to two banks", _confused),
    _bus("does not give banks turns to read", _stuck("ar_choice")),
    Mutant("L1", "warploom.tb.l1.test_whole", "does not invalidate instructions",
           lambda c: Tampered(L1(**SMALL_L1), lambda o, m: {"invalidate": Const(0)})),
)
