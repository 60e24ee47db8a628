"""Planted bugs in the parts of the engine's memory unit: each bench must catch its own."""

from typing import Any

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import Cause
from warploom.arch.l1 import OFFSET_BITS
from warploom.rtl.fg_simt.coalesce import Coalescer, agree
from warploom.rtl.fg_simt.load_queue import LoadQueue
from warploom.rtl.fg_simt.memory_unit import MemoryUnit
from warploom.rtl.fg_simt.outstanding import Outstanding
from warploom.rtl.fg_simt.request_queue import RequestQueue
from warploom.rtl.fg_simt.rotation import Rotation
from warploom.rtl.fg_simt.sender import Sender
from warploom.rtl.fg_simt.store_data import StoreData
from warploom.rtl.fg_simt.vector_lines import VectorLines
from warploom.rtl.rotate import first_from
from warploom.rtl.select import lowest, merge_many
from warploom.tb.fg_simt import test_coalesce, test_memory_unit
from warploom.tb.fg_simt.eight_lanes import LANES
from warploom.tb.l1.mutants import Change, changed, in_part
from warploom.tb.mutants import Mutant, Part, Tampered


def _coalescer(bug: str, change: Change) -> Mutant:
    return Mutant("Coalescer", test_coalesce.BENCH, bug, lambda config: changed(Coalescer(), change))


def _in_a_ring(unit: Any, m: Module) -> None:
    """Starts are compared without their signs."""
    starts = [(address[:OFFSET_BITS] - (Const(lane) << unit.size))[:OFFSET_BITS]
              for lane, address in enumerate(unit.address)]
    m.d.comb += unit.consecutive.eq(agree(unit.execute, starts))


def _all_lanes(unit: Any, m: Module) -> None:
    """Lanes that do not execute count."""
    members = Const(-1, len(unit.execute))
    m.d.comb += unit.wide.eq(unit.consecutive & agree(members, [address[OFFSET_BITS:] for address in unit.address]))


def _few_bits(unit: Any, m: Module) -> None:
    """The highest bit of addresses is not compared."""
    lines: list[Value] = [address[OFFSET_BITS:-1] for address in unit.address]
    offsets: list[Value] = [address[:OFFSET_BITS] for address in unit.address]
    equal = agree(unit.execute, offsets)
    m.d.comb += unit.wide.eq(agree(unit.execute, lines) & (equal | unit.consecutive))


def _words_only(unit: Any, m: Module) -> None:
    """Every access is taken for one of a word."""
    starts = [address[: OFFSET_BITS + 1] - Const(4 * lane) for lane, address in enumerate(unit.address)]
    m.d.comb += unit.consecutive.eq(agree(unit.execute, starts))


def _unit(bug: str, change: Change, part: Part | None = None) -> Mutant:
    return Mutant("MemoryUnit", test_memory_unit.BENCH, bug, lambda config: changed(MemoryUnit(probe=True), change),
                  part=part)


def _sender(bug: str, change: Change, part: Part = Sender) -> Mutant:
    return _unit(bug, in_part("sender", change), part)


def _outstanding(bug: str, change: Change) -> Mutant:
    return _unit(bug, in_part("outstanding", change), Outstanding)


def _lowest_entry(outstanding: Any, m: Module) -> None:
    for port in range(LANES + 1):
        asked = Cat(waiting[port] for waiting in outstanding.waiting)
        m.d.comb += outstanding._chosen[port].eq(first_from(m, asked, Const(1, len(asked))))


def _last_fault(unit: Any, m: Module) -> None:
    with m.If(unit._outstanding.errors.any()):
        m.d.sync += [unit.fault.cause.eq(Cause.BUS), unit.fault.pc.eq(unit._outstanding.failed)]


def _keeps_the_first(queue: Any, m: Module) -> None:
    """A discard leaves the first row, even if it has not begun."""
    with m.If(queue.discard & ~queue.leave):
        m.d.sync += queue.present.eq(queue.present)


def _one_place(outer: Any, m: Module) -> dict[str, Value]:
    """A word of the wide port comes to the place of that of the narrow one."""
    fill = Signal(outer.fill.shape())
    m.d.comb += [fill.eq(outer.fill), fill[1].place.eq(outer.fill[0].place)]
    return {"fill": fill.as_value()}


def _crowded(config: SmConfig) -> wiring.Component:
    unit: Any = MemoryUnit(probe=True)
    unit._loads = [Tampered(loads, _one_place) for loads in unit._loads]
    made: wiring.Component = unit
    return made


def _last_port(outstanding: Any, m: Module) -> None:
    """Of several errors that of the last port counts."""
    last = lowest(outstanding.errors[::-1])[::-1]
    entry = merge_many(last, list(outstanding._chosen))
    m.d.comb += outstanding.failed.eq(merge_many(entry, [each.instruction.pc for each in outstanding._entries]))


MUTANTS = (
    _coalescer("takes consecutive addresses in a ring", _in_a_ring),
    _coalescer("sees lanes that do not execute", _all_lanes),
    _coalescer("ignores the highest bit of addresses", _few_bits),
    _coalescer("takes all sizes for words", _words_only),
    _coalescer("does not see equal addresses", lambda unit, m: m.d.comb.__iadd__(
        unit.wide.eq(unit.consecutive & agree(unit.execute, [address[OFFSET_BITS:] for address in unit.address])))),
    _unit("sends narrow and wide rows in any order", lambda unit, m: m.d.comb.__iadd__(
        m.submodules.sender.blocked.eq(0))),
    _sender("lets all lanes store to one address", lambda sender, m: m.d.comb.__iadd__(
        m.submodules.store.consecutive.eq(1))),
    _sender("says that each line begins with thread 0", lambda sender, m: m.d.comb.__iadd__(sender.sent.first.eq(0))),
    _sender("reads one line of a vector load", in_part("lines", lambda lines, m: m.d.comb.__iadd__(lines.last.eq(1))),
            VectorLines),
    _sender("stores the whole word of lane 0", in_part("store", lambda store, m: m.d.comb.__iadd__(
        store.word_masks[0].eq(-1))), StoreData),
    _unit("keeps a first row that has not begun", in_part("queue", _keeps_the_first), RequestQueue),
    _unit("gives lane 7 the element of lane 0", in_part("rotation", lambda rotation, m: m.d.comb.__iadd__(
        rotation.words[7].eq(rotation.words[0]))), Rotation),
    Mutant("MemoryUnit", test_memory_unit.BENCH, "brings words of the wide port to another place", _crowded,
           part=LoadQueue),
    _unit("sends rows that are discarded", lambda unit, m: m.d.comb.__iadd__(m.submodules.queue.discard.eq(0))),
    _outstanding("gives answers to the entry with the lowest number", _lowest_entry),
    _outstanding("counts an instruction as over with its first row", lambda part, m: m.d.comb.__iadd__(
        part.ends.eq(part._leaves))),
    _outstanding("brings only eight elements of a line", lambda part, m: m.d.comb.__iadd__(part._rest.eq(0))),
    _unit("does not rotate elements", lambda unit, m: m.d.comb.__iadd__(m.submodules.rotation.lane.eq(0))),
    _unit("reports the last fault", _last_fault),
    _outstanding("reports the error of the last port", _last_port),
    _unit("lets lanes with a fault access memory", lambda unit, m: m.d.comb.__iadd__(
        m.submodules.queue.row.execute.eq(unit.arriving.row.execute))),
)
