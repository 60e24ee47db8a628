# amaranth: UnusedElaboratable=no
"""The arithmetic units SAU0 and SAU1 (docs/contract/fg_simt.md, *Lanes in hardware*; [AFFINE], section 4)."""

from collections.abc import Mapping

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, LATENCY, Sizes
from warploom.arch.isa import Op
from warploom.rtl.fg_simt.lane_unit import LaneUnit
from warploom.rtl.fg_simt.long_units import (
    CONVERSIONS,
    FUSED,
    PRODUCTS,
    QUOTIENTS,
    conversion_unit,
    division_unit,
    fused_unit,
    product_unit,
)
from warploom.rtl.fg_simt.micro import one_of
from warploom.rtl.fg_simt.sau_ports import group, result, written
from warploom.rtl.fg_simt.simple import SIMPLE, SimpleUnit
from warploom.rtl.interfaces import unstoppable
from warploom.rtl.l1.ports import assert_rule
from warploom.rtl.select import merge_many

DIVIDED = 2
"""Groups of divisions that are under way at once, at most."""


def about(sizes: Sizes) -> data.StructLayout:
    """What is known of the results of a group before they are there."""
    layout = group(sizes)
    return data.StructLayout({name: layout[name].shape for name in ("group", "destination", "predicate", "execute")})


class Pipelines(wiring.Component):
    """Units of several latencies, one result in a cycle. A group that enters in t has its result in t + latency.

    Parameters
    ----------
    units : units, and the operations of each. Those of a unit have one latency.
    sizes : lanes of the engine.
    probe : stop a simulation if two groups have their results in one cycle.

    Members
    -------
    enter : a group enters; other operations than these are ignored. No two groups may have their results in one cycle.
    result : results; words and predicates are 0 if there is none.
    """

    def __init__(self, units: Mapping[tuple[Op, ...], LaneUnit], *, sizes: Sizes, probe: bool = False) -> None:
        self._about, self._probe = about(sizes), probe
        self._units = {LATENCY[operations[0]]: (operations, unit) for operations, unit in units.items()}
        super().__init__({"enter": In(unstoppable(group(sizes))), "result": Out(result(sizes))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        entering, last = self.enter.payload, max(self._units)
        starts, ends = ({latency: Signal(name=f"{what}_{latency}") for latency in self._units}
                        for what in ("starts", "ends"))
        for latency, (operations, unit) in self._units.items():
            m.submodules[f"unit_{latency}"] = unit
            steps = Signal(latency, name=f"steps_{latency}")
            m.d.comb += [starts[latency].eq(self.enter.valid & one_of(entering.op, operations)),
                         ends[latency].eq(steps[-1])]
            m.d.sync += steps.eq(Cat(starts[latency], steps))
            connect_unit(m, entering, unit, starts[latency])
        line = [Signal(self._about, name=f"about_{places}", reset_less=True) for places in range(last + 1)]
        for place, known in enumerate(line[:last]):
            m.d.sync += known.eq(line[place + 1])
            if place + 1 in starts:
                with m.If(starts[place + 1]):
                    m.d.sync += [known[name].eq(entering[name]) for name, _ in self._about]
        self._choose(m, line[0], ends)
        return m

    def _choose(self, m: Module, known: data.View, ends: Mapping[int, Signal]) -> None:
        """The result of the unit that ends."""
        ended, given, units = Cat(ends.values()), self.result, [unit for _, unit in self._units.values()]
        verdicts = [unit.verdict if "verdict" in unit.signature.members else Value.cast(0) for unit in units]
        m.d.comb += [
            *(given[name].eq(known[name]) for name, _ in self._about),
            given.destination.valid.eq(known.destination.valid & ended.any()),
            given.predicate.valid.eq(known.predicate.valid & ended.any()),
            *(word.eq(merge_many(ended, [unit.result[lane] for unit in units]))
              for lane, word in enumerate(given.words)),
            given.verdicts.eq(merge_many(ended, verdicts)),
        ]
        if self._probe:
            assert_rule(m, (ended & (ended - 1)) == 0, "two groups have their results in one cycle")


class Division(wiring.Component):
    """The divider of each lane, and what is known of its groups. A group may enter every 16 cycles; its result, without
    predicate, is there 21 cycles later, from a register.

    Parameters
    ----------
    sizes : lanes of the engine.
    probe : stop a simulation if a group enters when the dividers are not ready.

    Members
    -------
    enter : a group enters; other operations than divisions are ignored.
    write, done : a result, and whether there is one.
    """

    def __init__(self, *, sizes: Sizes, probe: bool = False) -> None:
        self._unit, self._about = division_unit(sizes, probe=probe), about(sizes)
        self._waiting = SyncFIFO(width=self._about.size, depth=DIVIDED)
        super().__init__({"enter": In(unstoppable(group(sizes))), "write": Out(result(sizes)), "done": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit, m.submodules.waiting = unit, waiting = self._unit, self._waiting
        entering, starts, known = self.enter.payload, Signal(), data.View(self._about, waiting.r_data)
        connect_unit(m, entering, unit, starts)
        m.d.comb += [
            starts.eq(self.enter.valid & one_of(entering.op, QUOTIENTS)),
            waiting.w_en.eq(starts), waiting.w_data.eq(Cat(entering[name] for name, _ in self._about)),
            waiting.r_en.eq(unit.done), self.done.eq(unit.done),
            *(self.write[name].eq(known[name]) for name, _ in self._about),
            self.write.destination.valid.eq(known.destination.valid & unit.done),
            self.write.predicate.valid.eq(0),
            self.write.words.eq(unit.result),
        ]
        return m


class FirstSau(wiring.Component):
    """SAU0: simple operations, multiply-add and conversion. A group that enters in t has its result in t + L.

    Parameters
    ----------
    sizes : lanes of the engine.
    probe : stop a simulation if two groups have their results in one cycle.

    Members
    -------
    enter : a group reads its operands.
    holds : in the next cycle, its executing lanes: of a collect those in which the predicate holds.
    write : results, to be written and forwarded.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES, probe: bool = False) -> None:
        units = {SIMPLE: SimpleUnit(sizes=sizes), CONVERSIONS: conversion_unit(sizes), FUSED: fused_unit(sizes)}
        self._pipelines = Pipelines(units, sizes=sizes, probe=probe)
        super().__init__(sau_ports(sizes))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pipelines = self._pipelines
        connect_pipelines(m, self, self._pipelines)
        m.d.comb += self.write.eq(written(m, self._pipelines.result))
        return m


class SecondSau(wiring.Component):
    """SAU1: simple operations, integer multiplication and division. Of a division, which has a result every 16 cycles,
    the register of the divider is the write port.

    Parameters
    ----------
    sizes : lanes of the engine.
    probe : stop a simulation if a group of a division enters when the dividers are not ready, or if two groups have
        their results in one cycle.

    Members
    -------
    enter, holds, write : as of `FirstSau`. No other operation may have a result in the cycle before that in
        which one of a division is written.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES, probe: bool = False) -> None:
        units = {SIMPLE: SimpleUnit(sizes=sizes), PRODUCTS: product_unit(sizes)}
        self._pipelines = Pipelines(units, sizes=sizes, probe=probe)
        self._division, self._probe = Division(sizes=sizes, probe=probe), probe
        super().__init__(sau_ports(sizes))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pipelines, m.submodules.division = pipelines, division = self._pipelines, self._division
        connect_pipelines(m, self, pipelines)
        m.d.comb += [
            division.enter.valid.eq(self.enter.valid), division.enter.payload.eq(self.enter.payload),
            self.write.eq(Mux(division.done, division.write, written(m, pipelines.result))),
        ]
        if self._probe:
            self._assert_rules(m)
        return m

    def _assert_rules(self, m: Module) -> None:
        """Stop a simulation in which a result of a division would hide another one."""
        other, written_too = self._pipelines.result, Signal()
        m.d.sync += written_too.eq(other.destination.valid | other.predicate.valid)
        assert_rule(m, ~(self._division.done & written_too), "a division is written with another operation")


def sau_ports(sizes: Sizes) -> dict[str, wiring.Member]:
    """The ports of both SAUs."""
    return {"enter": In(unstoppable(group(sizes))), "holds": Out(sizes.lanes), "write": Out(result(sizes))}


def connect_unit(m: Module, entering: data.View, unit: LaneUnit, starts: Value) -> None:
    """The group that enters a unit."""
    names = [name for name, member in unit.signature.members.items() if member.flow is In and name != "enters"]
    m.d.comb += [unit.enters.eq(starts), *(getattr(unit, name).eq(entering[name]) for name in names)]


def connect_pipelines(m: Module, sau: FirstSau | SecondSau, pipelines: Pipelines) -> None:
    """The ports that both SAUs connect alike."""
    executing = Signal(len(sau.holds), reset_less=True)
    m.d.sync += executing.eq(sau.enter.payload.execute)
    m.d.comb += [
        pipelines.enter.valid.eq(sau.enter.valid), pipelines.enter.payload.eq(sau.enter.payload),
        sau.holds.eq(executing),
    ]
