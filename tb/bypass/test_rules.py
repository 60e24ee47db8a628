"""Bench of the assertions of a bypassing collector on its inputs: an instruction is taken only with free entries, and a
result is delivered only to an entry. They stop a simulation if and only if one is violated."""

from collections.abc import Iterable

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.tb import runner
from warploom.tb.bench import Driver, Ports, Stimulus

COLLECTOR = SmConfig.preset("small").with_settings(["bypass=bow_wr", "entries=4"])


def reads(*registers: int, **fields: int) -> Stimulus:
    """An instruction of warp 5 that reads these registers is taken."""
    named = {f"src{slot}": register for slot, register in enumerate(registers)}
    issue = {"warp": 5, "reads": (1 << len(registers)) - 1, "lanes": 1, **named, **fields}
    return {"take": 1, "instruction__issue": issue}


def result(register: int) -> Stimulus:
    """A result is delivered."""
    return {"forward__delivery": {"valid": 1, "register": register, "lanes": 1}}


async def drive(dut: cocotb.handle.SimHandleBase, stimuli: Iterable[Stimulus]) -> None:
    """Reset, one cycle for each stimulus, and one more."""
    ports = Ports(dut)
    driver = Driver(ports)
    await ports.reset()
    for stimulus in (*stimuli, {}):
        driver.drive(stimulus)
        await ports.next_cycle()


THREE, WRITER = reads(1, 2, 3), reads(writes=1, dst=7)
"""After the first one a single entry is available; the second one awaits R7."""


@cocotb.test()
async def room_for_one(dut: cocotb.handle.SimHandleBase) -> None:
    """One register, in two slots."""
    await drive(dut, [THREE, reads(4, 4)])


@cocotb.test()
async def no_room_for_two(dut: cocotb.handle.SimHandleBase) -> None:
    """Two registers."""
    await drive(dut, [THREE, reads(4, 5)])


@cocotb.test()
async def entry_in_use(dut: cocotb.handle.SimHandleBase) -> None:
    """The awaited result."""
    await drive(dut, [WRITER, result(7)])


@cocotb.test()
async def entry_of_another_register(dut: cocotb.handle.SimHandleBase) -> None:
    """The result of another register."""
    await drive(dut, [WRITER, result(6)])


@cocotb.test()
async def entry_no_longer_in_use(dut: cocotb.handle.SimHandleBase) -> None:
    """A result of the warp before."""
    await drive(dut, [WRITER, reads(first=1), result(7)])


def run(testcase: str, seed: int) -> None:
    """One of the tests above."""
    runner.run(runner.build(COLLECTOR, "BypassingCollector"), "warploom.tb.bypass.test_rules", seed, testcase=testcase)


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("testcase", ["room_for_one", "entry_in_use"])
def test_correct_streams_pass(testcase: str, seed: int) -> None:
    run(testcase, seed)


@pytest.mark.rtl
@pytest.mark.parametrize(("testcase", "message"), [
    ("no_room_for_two", "warp 5 reads 2 registers with room 2"),
    ("entry_of_another_register", "no entry takes the result of register 6"),
    ("entry_no_longer_in_use", "no entry takes the result of register 7"),
])
def test_a_broken_rule_stops_the_simulation(testcase: str, message: str, seed: int) -> None:
    with pytest.raises(AssertionError, match=message):
        run(testcase, seed)
