"""Bench of the datapath with a hint that may be wrong, without a model, so that only the hardware's assertion can find
a lost value."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.encoding import encode_modifiers
from warploom.arch.isa import NO_SLOT, Instruction, Op
from warploom.arch.layout import rows_per_warp
from warploom.arch.mechanisms import cores
from warploom.golden_model.words import ALL_LANES, broadcast
from warploom.tb import runner
from warploom.tb.bench import Driver, Ports

CORE = "abm bow_hints cross_lane reg"
CONFIG = SmConfig.preset("small").with_settings([*cores()[CORE]])
WARP, VALUE = 5, 7

PAUSE = 30
"""Cycles after each instruction, in which it completes and expired entries leave."""


def move(destination: int, source: int | None = None, **fields: int) -> dict[str, int]:
    """The issue fields of a MOV of a register, or of a constant."""
    instruction = Instruction(op=Op.MOV)
    return {
        "warp": WARP, "op": instruction.op, "modifiers": encode_modifiers(instruction), "pipe": instruction.pipe,
        "timing": instruction.timing_class, "dst": destination, "writes": 1, "reads": int(source is not None),
        "src0": source or 0, "imm_slot": 0 if source is None else NO_SLOT, "imm": VALUE, "lanes": ALL_LANES, "full": 1,
        "to_collector": 1, "to_file": 1, **fields,
    }


async def read_late(dut: cocotb.handle.SimHandleBase, *, to_file: int) -> None:
    """R1 is written, and read after it has left a window of three."""
    ports, operands = Ports(dut), []
    driver, codec = Driver(ports), ports.codecs["dispatch__payload"]
    idle = {"stride": rows_per_warp(CONFIG, 16)}
    await ports.reset()
    for fields in (move(1, first=1, to_file=to_file), move(2), move(3), move(4, 1)):
        driver.drive({**idle, "issue__valid": 1, "issue__payload": fields})
        for _ in range(PAUSE):
            await ports.next_cycle()
            driver.drive(idle)
            if ports.peek("dispatch__valid"):
                operands.append(codec.field(ports.peek("dispatch__payload"), "a"))
    assert operands == [broadcast(VALUE)] * 4


@cocotb.test()
async def right_hint(dut: cocotb.handle.SimHandleBase) -> None:
    """The register file has the value."""
    await read_late(dut, to_file=1)


@cocotb.test()
async def wrong_hint(dut: cocotb.handle.SimHandleBase) -> None:
    """The register file does not have the value."""
    await read_late(dut, to_file=0)


def run(testcase: str, seed: int) -> None:
    """One of the tests above."""
    runner.run(runner.build(CONFIG, "Datapath"), "warploom.tb.bypass.test_dropped", seed, testcase=testcase)


on = pytest.mark.xdist_group(CORE)
"""The core of `warploom.tb.test_datapath` that has this hardware."""


@on
@pytest.mark.rtl
def test_a_value_that_leaves_for_the_register_file_is_read(seed: int) -> None:
    run("right_hint", seed)


@on
@pytest.mark.rtl
def test_a_value_that_was_dropped_stops_the_simulation(seed: int) -> None:
    with pytest.raises(AssertionError, match="warp 5 reads register 1, dropped in lanes 0xffffffff"):
        run("wrong_hint", seed)
