"""Power-up contents of hardware: registers that were never written, read in the first cycles after a reset."""

import json
from pathlib import Path

import cocotb

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import issue_fields
from warploom.arch.isa import NO_SLOT, Op, Pipe, TimingClass
from warploom.tb.bench import Driver, Ports, Stimulus
from warploom.tb.lockstep_bench import Simulated

SEEN = "seen.json"
PORT = "dispatch__payload"


def stimuli(config: SmConfig) -> list[Stimulus]:
    """An instruction that reads three registers, and cycles in which it waits for them."""
    fields = dict.fromkeys((name for name, _ in issue_fields(config)), 0) | {
        "op": int(Op.FFMA), "pipe": int(Pipe.SP), "timing": int(TimingClass.FP_MAD), "reads": 0b111, "src1": 1,
        "src2": 2, "imm_slot": NO_SLOT, "lanes": (1 << 32) - 1, "full": 1}
    return [{"stride": 8, "issue__valid": 1, "issue__payload": fields}, *[{"stride": 8}] * 10]


@cocotb.test()
async def power_up(dut: cocotb.handle.SimHandleBase) -> None:
    """Write the dispatch port of each cycle to a file."""
    ports, seen = Ports(dut), []
    driver, hardware = Driver(ports), Simulated(ports)
    await ports.reset()
    for stimulus in stimuli(ports.config):
        seen.append(hardware.read(PORT))
        driver.drive(stimulus)
        await ports.next_cycle()
    Path(SEEN).write_text(json.dumps(seen))
