"""Assertions on the ports of the engine's L1: each stops a simulation in which its rule is broken."""

import pytest
from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from support.simulated import simulate

from warploom.arch.l1 import SLOTS, Operation
from warploom.rtl.l1.bank import CacheBank
from warploom.rtl.l1.ports import assert_held
from warploom.rtl.l1.reorder import ReorderBuffer

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


TAKE, FILL = {"take": 1}, {"fill": 1, "filled": 0}


@pytest.mark.parametrize(("cycles", "message"), [
    ([TAKE] * (SLOTS + 1), "a request takes a slot, and none is free"),
    ([FILL], "an answer comes for a slot that is not in use"),
    ([TAKE, TAKE, {"fill": 1, "filled": 2}], "an answer comes for a slot that is not in use"),
    ([TAKE, FILL, FILL], "a slot is answered twice")])
def test_a_reorder_buffer_that_is_used_wrongly(cycles: list[dict[str, int]], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        simulate(ReorderBuffer(bits=8, probe=True), cycles)


def test_a_reorder_buffer_that_is_used_well() -> None:
    answered = [TAKE, TAKE, {"fill": 1, "filled": 1}, FILL, {"response__ready": 1}, {"response__ready": 1}]
    simulate(ReorderBuffer(bits=8, probe=True), answered)
