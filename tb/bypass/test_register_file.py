"""Property of register file and bypassing collectors together: instructions read what instructions wrote, in entries or
in the register file, with merges, evictions, dropped values and changing warps."""

import cocotb
import pytest

from warploom.arch.config import LANES, SmConfig
from warploom.arch.mechanisms import cores
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Ports, exercise, source
from warploom.tb.register_program import WRITES, Draft, Key, OperandCheck, Program, points
from warploom.tb.test_datapath import for_each


class AnyProgram(Program):
    """Writes of any values, in all lanes that are live or in some."""

    def _draft(self, key: Key) -> Draft | None:
        rng = self._rng
        if rng.random() < 0.2:
            return None
        return Draft(rng.random() < 0.4, lambda lanes: [rng.getrandbits(32) for _ in range(LANES)])


WINDOWS = cores("bypassing", "pipelined")


@cocotb.test()
async def writes_and_reads(dut: cocotb.handle.SimHandleBase) -> None:
    """Random writes and reads."""
    ports, checker = Ports(dut), Checker(minimum=5 * WRITES)  # with hints there are few lanes that may be read
    coverage = Coverage(*points(ports.config))
    program = AnyProgram(ports, source(), coverage)
    await exercise(ports, program.stimuli(), OperandCheck(ports, program, checker), checker, partial=True)
    checker.holds("enough was written", program.writes >= WRITES)
    checker.finish()
    coverage.finish()


@pytest.mark.rtl
@for_each(WINDOWS)
def test_register_file(core: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([*WINDOWS[core]])
    runner.run(runner.build(config, "Datapath"), "warploom.tb.bypass.test_register_file", seed)
