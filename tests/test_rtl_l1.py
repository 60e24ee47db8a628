"""Assertions on the ports of the engine's L1: each stops a simulation in which its rule is broken."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In
from amaranth.sim import Simulator

from warploom.arch.l1 import Operation
from warploom.rtl.l1.bank import CacheBank
from warploom.rtl.l1.ports import assert_held

CLEARED = 4
"""Cycles after which a bank of two lines takes requests."""


class Held(wiring.Component):
    """A handshake whose rule is asserted."""

    def __init__(self) -> None:
        super().__init__({"valid": In(1), "ready": In(1), "payload": In(4)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        assert_held(m, self.valid, self.ready, Cat(self.payload, Signal()), "port")
        return m


def simulate(unit: Any, cycles: Sequence[Mapping[str, int]], before: int = 0) -> None:
    """Some cycles with these inputs, by path; others are zero."""
    inputs = {"__".join(map(str, path)): value for path, member, value in unit.signature.flatten(unit)
              if member.flow is wiring.In}

    async def bench(context: Any) -> None:
        await context.tick().repeat(before) if before else None
        for cycle in (*cycles, {}, {}):
            for name, signal in inputs.items():
                fields = {part.partition(".")[2]: value for part, value in cycle.items() if part.startswith(f"{name}.")}
                context.set(signal, fields if isinstance(signal, data.View) else cycle.get(name, 0))
            await context.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()


def request(address: int, operation: Operation = Operation.READ, wide: int = 0) -> dict[str, int]:
    """A request to a bank."""
    return {"request__valid": 1, "request__payload.address": address, "request__payload.operation": operation,
            "request__payload.wide": wide}


def beats(last: int) -> list[dict[str, int]]:
    """A request that misses, and beats of its line, of which one is the last."""
    return [request(0), {}, {"memory__offer__ready": 1},
            *({"memory__beat__valid": 1, "memory__beat__last": int(number == last)} for number in range(last + 1))]


@pytest.mark.parametrize(("cycles", "message"), [
    ([request(2)], "address 2 is not aligned"), ([request(4, wide=1)], "address 4 is not aligned"),
    ([request(0, Operation.ADD, wide=1)], "an atomic on a line"),
    ([{"memory__beat__valid": 1}], "memory answered without a request"),
    ([{"memory__written__valid": 1}], "memory wrote without a request"),
    (beats(2), "memory sent a wrong number of beats")])
def test_a_bank_that_is_used_wrongly(cycles: list[dict[str, int]], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        simulate(CacheBank(lines=2, probe=True), cycles, CLEARED)


@pytest.mark.parametrize("cycles", [[request(4), {}], [request(32, wide=1), {}], beats(3)])
def test_a_bank_that_is_used_well(cycles: list[dict[str, int]]) -> None:
    simulate(CacheBank(lines=2, probe=True), cycles, CLEARED)


@pytest.mark.parametrize("second", [{}, {"valid": 1, "payload": 2}])
def test_an_offer_that_changes(second: dict[str, int]) -> None:
    with pytest.raises(AssertionError, match="port changes while it waits"):
        simulate(Held(), [{"valid": 1, "payload": 1}, second])


def test_an_offer_that_is_taken() -> None:
    simulate(Held(), [{"valid": 1, "payload": 1}, {"valid": 1, "payload": 1, "ready": 1}, {"valid": 1, "payload": 2,
                                                                                           "ready": 1}])
