"""Planted bugs in the wires between the parts of the engine: lockstep must catch each."""

from itertools import chain
from typing import Any

from amaranth import Const, Module
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.image import HOST
from warploom.rtl.fg_simt.block_registers import BlockRegisters
from warploom.rtl.fg_simt.engine import Engine
from warploom.rtl.fg_simt.whole import WholeEngine
from warploom.tb.fg_simt import test_engine, test_whole_engine
from warploom.tb.fg_simt.front_mutants import Change
from warploom.tb.l1.mutants import changed
from warploom.tb.mutants import Mutant, Tampered


def _engine(bug: str, change: Change) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return changed(Engine(probe=True), change)

    return Mutant("Engine", f"{test_engine.BENCH}::random_kernels", bug, made)


def _code_of_host(unit: Any, m: Module) -> None:
    """Kernels are fetched where the host part is."""
    m.d.comb += unit._fetch.base.eq(HOST)


def _never_stops(unit: Any, m: Module) -> None:
    """The issue unit goes on after a fault."""
    m.d.comb += unit._issue.discard.eq(0)


def _always_quiet(unit: Any, m: Module) -> None:
    """A kernel is over while stores are in flight."""
    m.d.comb += unit._control.in_flight.eq(0)


def _keeps_fault(unit: Any, m: Module) -> None:
    """The memory unit forgets a fault only if a kernel starts in the cycle in which one is stopped."""
    m.d.comb += unit._memory.clear.eq(unit._control.memory_reset & unit._host.start)


def _counts_rows(unit: Any, m: Module) -> None:
    """Rows that leave after a stop are free twice."""
    m.d.comb += unit._issue.freed.eq(unit._memory.freed)


def _first_writer(config: SmConfig) -> wiring.Component:
    """With registers in block RAM, the first writer counts as the one that has written every register."""
    def change(blocks: Any, m: Module) -> None:
        m.d.comb += [table.write_ports[0].data.eq(0) for table in chain(*blocks._writers)]

    unit = Engine(probe=True)
    changed(unit._lanes._registers._blocks, change)
    return unit


def _whole(test: str, bug: str, change: Change) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return changed(WholeEngine(lines=test_whole_engine.LINES, probe=True), change)

    return Mutant("WholeEngine", f"{test_whole_engine.BENCH}::{test}", bug, made)


def _never_flushes(unit: Any, m: Module) -> None:
    m.d.comb += unit._l1.flush.eq(0)


def _swaps_lanes(unit: Any, m: Module) -> None:
    """The first two lanes get each other's answers."""
    for own, other in ((0, 1), (1, 0)):
        m.d.comb += unit._engine.narrow_response[own].payload.eq(unit._l1.narrow_response[other].payload)


MUTANTS = (
    _engine("fetches kernels from the host part", _code_of_host),
    _engine("issues after a fault", _never_stops),
    _engine("does not wait for stores", _always_quiet),
    _engine("stops all kernels after a fault", _keeps_fault),
    Mutant("Engine", f"{test_engine.BENCH}::random_kernels", "reads one writer's words", _first_writer,
           part=BlockRegisters, fpga=True),
    Mutant("Engine", f"{test_engine.BENCH}::stopped_stores", "has more rows after a stop",
           lambda config: changed(Engine(probe=True), _counts_rows)),
    _whole("program", "does not flush", _never_flushes),
    _whole("random_kernels", "gives two lanes each other's answers", _swaps_lanes),
    Mutant("WholeEngine", f"{test_whole_engine.BENCH}::random_kernels", "reads nothing over the bus",
           lambda config: Tampered(WholeEngine(lines=test_whole_engine.LINES, probe=True),
                                   lambda o, m: {"axi__rvalid": Const(0)})),
)
