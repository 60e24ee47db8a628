"""Assertions in the units of the SIMT engine: each stops a simulation in which its rule is broken."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import pytest
from amaranth import Elaboratable, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from support.simulated import simulate

from warploom.arch.fg_simt.sizes import EIGHT_LANES
from warploom.arch.isa import Op
from warploom.rtl.fg_simt.control import ControlProcessor, State
from warploom.rtl.fg_simt.engine import Engine
from warploom.rtl.fg_simt.fetch import Fetch
from warploom.rtl.fg_simt.lane_unit import LaneUnit
from warploom.rtl.fg_simt.load_queue import LoadQueue
from warploom.rtl.fg_simt.memory_unit import MemoryUnit
from warploom.rtl.fg_simt.sau import Pipelines, SecondSau
from warploom.tb.fg_simt.eight_lanes import ROWS

Cycles = Sequence[Mapping[str, int]]


pytestmark = pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
"""Of a unit whose assertions are alone in a simulation the parts are never used."""


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    """The units end before the warnings count again."""
    yield
    gc.collect()


class Rules(Elaboratable):
    """The assertions of a unit alone: whatever they look at is an input."""

    def __init__(self, unit: Any) -> None:
        self._unit = unit

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._unit._assert_rules(m)
        return m


def member(unit: Any, path: str) -> Any:
    """A signal of a unit by its dotted path, with numbers in arrays."""
    return reduce(lambda part, name: part[int(name)] if name.isdigit() else getattr(part, name), path.split("."), unit)


def check(unit: Any, cycles: Cycles, *, whole: bool = False) -> None:
    """Some cycles of the assertions of a unit, or of the whole unit, with these values, by path; others are zero."""
    async def bench(context: Any) -> None:
        for cycle in cycles:
            for path in {path for each in cycles for path in each}:
                context.set(member(unit, path), cycle.get(path, 0))
            await context.tick()

    simulator = Simulator(unit if whole else Rules(unit))
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()


NARROW, WIDE = "_outstanding.waiting.3.5", "_outstanding.waiting.0.8"
"""An entry waits for an answer of a lane, and one for that of the wide port."""

HOST = {"narrow.8.valid": 1}
"""A request over the port of the CP."""

EXECUTES = {"_state": State.RUN.value}


@pytest.mark.parametrize(("unit", "cycles", "message"), [
    (MemoryUnit, [{"arrive": 1, "_queue.used": ROWS}], "a row comes, and there is no room"),
    (MemoryUnit, [{"narrow_response.5.valid": 1, WIDE: 1}], "port 5 answers without a request"),
    (MemoryUnit, [{"wide_response.valid": 1, WIDE: 1, "_sender.unsent": 1 << 8}], "port 8 answers without a request"),
    (MemoryUnit, [{"narrow.2.valid": 1}, {}], "request_2 changes while it waits"),
    (ControlProcessor, [{"sent.valid": 1}], "an operation is sent, and the SIQ has no room"),
    (ControlProcessor, [{"request.valid": 1}], "the CP offers a request that is not taken"),
    (ControlProcessor, [{"response.valid": 1, **EXECUTES}], "memory answered the CP without a request"),
    (Fetch, [{"request.valid": 1}], "fetch offers a request that is not taken"),
    (Fetch, [{"answer.valid": 1}], "the cache answered without a request"),
    (Engine, [{"_host.take": 1, "_control.take": 1}], "both modes take an instruction"),
    (Engine, [{"_host.request.valid": 1, "_control.request.valid": 1}], "both modes request"),
    (Engine, [HOST, {**HOST, "narrow.8.payload.address": 4}], "request_of_cp changes while it waits"),
    (SecondSau, [{"_pipelines.result.predicate.valid": 1}, {"_division.done": 1}],
     "a division is written with another operation"),
])
def test_a_unit_that_breaks_a_rule(unit: Callable[..., Any], cycles: Cycles, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check(unit(probe=True), cycles)


@pytest.mark.parametrize(("unit", "cycles"), [
    (MemoryUnit, [{"arrive": 1, "_queue.used": ROWS - 1}, {"narrow_response.5.valid": 1, NARROW: 1}]),
    (ControlProcessor, [{"sent.valid": 1, "room": 1}, {"request.valid": 1, "request.ready": 1},
                        {"response.valid": 1, "_waits": 1, **EXECUTES}, {"response.valid": 1}]),
    (Fetch, [{"request.valid": 1, "request.ready": 1}, {"answer.valid": 1, "outstanding": 1}]),
    (Engine, [HOST, {**HOST, "narrow.8.ready": 1}, {"_host.take": 1}, {"_control.take": 1}]),
    (SecondSau, [{"_division.done": 1, "_pipelines.result.predicate.valid": 1}, {}]),
])
def test_a_unit_that_keeps_its_rules(unit: Callable[..., Any], cycles: Cycles) -> None:
    check(unit(probe=True), cycles)


@pytest.mark.parametrize("others", ["01", "02", "12"])
def test_two_words_for_one_place(others: str) -> None:
    fills = {f"fill.{number}.valid": 1 for number in others} | {f"fill.{number}.place": 3 for number in others}
    with pytest.raises(AssertionError, match="two words come for one place"):
        check(LoadQueue(probe=True), [fills], whole=True)


def test_words_for_several_places() -> None:
    fills = {f"fill.{number}.valid": 1 for number in range(3)} | {f"fill.{number}.place": number for number in range(3)}
    check(LoadQueue(probe=True), [fills], whole=True)


class Word(wiring.Component):
    """A lane that gives its operand back."""

    operands: In(data.StructLayout({"a": 32}))
    result: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.result.eq(self.operands.a)
        return m


@pytest.mark.parametrize("apart", [2, 1])
def test_results_of_two_units(apart: int) -> None:
    units = {(op,): LaneUnit(name="word", lane=Word, decode=lambda *_: None, sizes=EIGHT_LANES, clocked=False)
             for op in (Op.MOV, Op.IMUL)}
    first, second = ({"enter__valid": 1, "enter__payload.op": op.value} for op in (Op.IMUL, Op.MOV))
    cycles = [first, *[{}] * (apart - 1), second, {}, {}]
    if apart == 1:
        simulate(Pipelines(units, sizes=EIGHT_LANES, probe=True), cycles)
        return
    with pytest.raises(AssertionError, match="two groups have their results in one cycle"):
        simulate(Pipelines(units, sizes=EIGHT_LANES, probe=True), cycles)
