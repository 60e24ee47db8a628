"""Rules of `BypassingCollector` that stop a simulation, each broken once."""

import pytest
from support.simulated import simulate

from warploom.arch.config import SmConfig
from warploom.rtl.bypass.collector import BypassingCollector

ROWS = 8
"""Registers that have a row."""


TRANSIENT = ("transient=on", "window=2", "entries=8")


def collector(*settings: str) -> BypassingCollector:
    config = SmConfig.preset("small").with_settings(["bypass=bow_hints", *settings])
    return BypassingCollector(config=config, probe=True)


def take(*sources: int, **fields: int) -> dict[str, int]:
    """An instruction is taken that reads these registers."""
    named = {f"src{slot}": register for slot, register in enumerate(sources)}
    fields = {"reads": (1 << len(sources)) - 1, "lanes": 0xFFFF_FFFF, "full": 1, **named, **fields}
    return {"registers": ROWS, "take": 1, **{f"instruction__issue.{name}": value for name, value in fields.items()}}


def result(register: int) -> dict[str, int]:
    """A result of a register arrives, which is the only copy."""
    fields = {"valid": 1, "register": register, "lanes": 0xFFFF_FFFF, "full": 1}
    return {"registers": ROWS, **{f"forward__delivery.{name}": value for name, value in fields.items()}}


def transient(register: int) -> dict[str, int]:
    """An instruction is taken whose result stays in the collector."""
    return take(writes=1, dst=register, to_collector=1)


GRANT, LEAVE, EVICT, WAIT = ({"registers": ROWS, **inputs} for inputs in (
    {"read__grant": 1}, {"offer__dispatched": 1}, {"eviction__taken": 1}, {}))


@pytest.mark.parametrize(("cycles", "message"), [
    ([take(1, 2, 3), take(4, 5, 6)], "warp 0 reads 3 registers with room"),
    ([result(5)], "no entry takes the result of register 5"),
])
def test_entries(cycles: list[dict[str, int]], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        simulate(collector("entries=4", "window=2"), cycles)


@pytest.mark.parametrize("cycles", [
    [take(writes=1, dst=ROWS, to_file=1, to_collector=1)], [take(ROWS), WAIT, GRANT],
    [transient(ROWS), LEAVE, result(ROWS), *[take(), LEAVE] * 2, EVICT],
], ids=["written", "read", "evicted"])
def test_a_register_without_a_row(cycles: list[dict[str, int]]) -> None:
    with pytest.raises(AssertionError, match=f"register {ROWS} has no row"):
        simulate(collector(*TRANSIENT), cycles)


def test_rules_that_hold() -> None:
    last = ROWS - 1
    simulate(collector(*TRANSIENT), [
        take(writes=1, dst=last, to_file=1), LEAVE, take(last), WAIT, GRANT, WAIT, WAIT, LEAVE, transient(ROWS), LEAVE,
        result(ROWS)])
