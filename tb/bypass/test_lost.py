"""Bench of the assertion on hints: it stops a simulation if and only if a dropped value is read."""

import random
import re
from collections.abc import Iterable, Iterator
from itertools import chain

import cocotb
import pytest

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import issue_fields
from warploom.rtl.bypass.lost import LostLanes
from warploom.tb import runner
from warploom.tb.bench import Driver, Ports, Stimulus, source

CYCLES = 5000
REGISTERS = 6
"""Number of registers, small so that each is often dropped, written and read."""

HINTS = SmConfig.preset("small").with_settings(["bypass=bow_hints"])


class Warp:
    """A warp whose instructions read no lost lane; `lost` is indexed by register."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.lost: dict[int, int] = {}

    def stimulus(self) -> Stimulus:
        """An instruction, a register that is dropped, or nothing."""
        rng = self._rng
        if rng.random() < 0.3:
            register, lanes = rng.randrange(REGISTERS), rng.getrandbits(LANES) & rng.getrandbits(LANES)
            self.lost[register] = self.lost.get(register, 0) | lanes
            return {"drop": {"valid": 1, "register": register, "lanes": lanes}}
        fields = instruction(rng)
        if rng.random() < 0.2:
            return {"issue": fields | {"first": 1}}  # not taken
        if fields["first"]:
            self.lost.clear()
        for slot in range(3):
            if fields["reads"] >> slot & 1:
                fields["lanes"] &= ~self.lost.get(fields[f"src{slot}"], 0)
        if fields["writes"]:
            self.lost[fields["dst"]] = self.lost.get(fields["dst"], 0) & ~fields["lanes"]
        return {"take": 1, "issue": fields}


def instruction(rng: random.Random) -> dict[str, int]:
    """A random instruction of a few registers; now and then the first one of a warp."""
    fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(HINTS)}
    named = {name: rng.randrange(REGISTERS) for name in ("src0", "src1", "src2", "dst")}
    return fields | named | {"first": rng.random() < 0.02}


def legal(rng: random.Random) -> Iterator[Stimulus]:
    """The stimuli of a correct program."""
    warp = Warp(rng)
    for _ in range(CYCLES):
        yield warp.stimulus()


async def drive(ports: Ports, stimuli: Iterable[Stimulus]) -> None:
    """Reset, then one cycle for each stimulus."""
    driver = Driver(ports)
    await ports.reset()
    for stimulus in stimuli:
        driver.drive(stimulus)
        await ports.next_cycle()


@cocotb.test()
async def right_hints(dut: cocotb.handle.SimHandleBase) -> None:
    """Instructions that read only available lanes."""
    await drive(Ports(dut), legal(source()))


@cocotb.test()
async def wrong_hint(dut: cocotb.handle.SimHandleBase) -> None:
    """Instructions that read only available lanes, and at the end one that reads a dropped lane of a register."""
    rng = source()
    register, lane, slot = rng.randrange(REGISTERS), 1 << rng.randrange(LANES), rng.randrange(3)
    drop = {"drop": {"valid": 1, "register": register, "lanes": lane}}
    reader = instruction(rng) | {"first": 0, "warp": 5, "reads": 1 << slot, f"src{slot}": register, "lanes": lane}
    cocotb.log.info("expect register %d, lanes %#010x", register, lane)
    await drive(Ports(dut), chain(legal(rng), [drop, {"take": 1, "issue": reader}, {}]))


def run(testcase: str, seed: int) -> None:
    """One of the tests above."""
    made = runner.build(HINTS, "LostLanes", component=LostLanes(config=HINTS))
    runner.run(made, "warploom.tb.bypass.test_lost", seed, testcase=testcase)


@pytest.mark.rtl
def test_right_hints_pass(seed: int) -> None:
    run("right_hints", seed)


@pytest.mark.rtl
@pytest.mark.parametrize("number", range(3))
def test_a_wrong_hint_stops_the_simulation(number: int, seed: int) -> None:
    """Another register, lane and slot each time."""
    with pytest.raises(AssertionError, match=r"warp 5 reads register \d, dropped in lanes 0x\w+") as caught:
        run("wrong_hint", seed)
    expected = re.search(r"expect register (\d), lanes (0x\w+)", str(caught.value))
    assert expected and f"reads register {expected[1]}, dropped in lanes {expected[2]}" in str(caught.value)
