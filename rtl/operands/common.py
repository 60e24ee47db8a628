"""What the operand stores have in common: metadata are looked up, the dispatcher chooses, its choice is sent."""

from collections.abc import Sequence
from typing import Any

from amaranth import Cat, Module, Value
from amaranth.lib.wiring import connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Coalescing
from warploom.rtl import ports
from warploom.rtl.select import merge


def connect_lookup(m: Module, config: SmConfig, store: Any, taken: Value) -> None:
    """The registers of the instruction at the issue port are placed, and their metadata looked up. `taken` says that
    it is taken at the end of the cycle."""
    issue, placer = store.issue.payload, store.placer
    m.d.comb += [placer.issue.eq(issue), placer.stride.eq(store.stride)]
    if ports.metadata(config):
        m.d.comb += [
            store.lookup.place.eq(Cat(placer.source, placer.destination)),
            *(named.eq(taken & wanted)
              for named, wanted in zip(store.lookup.taken, (*issue.reads, issue.writes), strict=True)),
        ]


def connect_registers(m: Module, config: SmConfig, store: Any, collector: Any) -> None:
    """A collector is shown where registers lie, and their metadata."""
    m.d.comb += [
        collector.issue.eq(store.issue.payload),
        collector.source.eq(store.placer.source),
        collector.destination.eq(store.placer.destination),
    ]
    if config.coalescing is Coalescing.ON:
        *sources, destination = store.lookup.early
        m.d.comb += [
            *(code.eq(source) for code, source in zip(collector.code, sources, strict=True)),
            collector.destination_code.eq(destination),
        ]
    if config.gating.has_zero_mask:
        m.d.comb += collector.zero.eq(store.lookup.late)


def connect_dispatch(
    m: Module, config: SmConfig, store: Any, collectors: Sequence[Any], holders: Sequence[Any],
) -> None:
    """The dispatcher chooses one of the holders, and the stage takes its instruction."""
    dispatcher, stage = store.dispatcher, store.stage
    m.d.comb += [
        *(getattr(dispatcher, name).eq(getattr(store, name)) for name in ports.credits(config)),
        stage.select.eq(dispatcher.select),
        *(stage.operands[c].eq(collector.operands) for c, collector in enumerate(collectors)),
    ]
    for h, holder in enumerate(holders):
        m.d.comb += [
            dispatcher.busy[h].eq(holder.busy),
            dispatcher.ready[h].eq(holder.ready),
            dispatcher.pipe[h].eq(holder.held.pipe),
            dispatcher.timing[h].eq(holder.held.timing),
            holder.dispatched.eq(dispatcher.select[h]),
            stage.held[h].eq(holder.held),
        ]
    connect(m, stage.dispatch, flipped(store.dispatch))


def connect_compact(m: Module, store: Any, beside: Sequence[Any], taken: Value) -> None:
    """Compact slots are kept beside the instruction, and taken to the operand registers."""
    for h, slots in enumerate(beside):
        m.d.comb += [
            slots.compact.eq(store.compact.slots.compact),
            slots.values.eq(store.compact.slots["values"]),
            store.stage.slots[h].eq(slots.oldest),
        ]
    for slots, collector in zip(store.compact_slots, store.collectors, strict=True):
        m.d.comb += [slots.take.eq(collector.take), slots.dispatched.eq(collector.dispatched)]
    m.d.comb += store.compact.taken.eq(taken)


def observe_dispatch(m: Module, store: Any, holders: Sequence[Any]) -> None:
    """The choice of the cycle, and the columns that load, for a bench."""
    select = store.dispatcher.select
    m.d.comb += [
        store.probe.dispatch_valid.eq(select.any()),
        store.probe.dispatch_collector.eq(merge(select, range(len(holders)))),
        store.probe.dispatch_tag.eq(merge(select, [holder.held.tag for holder in holders])),
        store.collector_columns.eq(Cat(collector.loads for collector in store.collectors)),
        store.operand_columns.eq(store.stage.operand_columns),
    ]
