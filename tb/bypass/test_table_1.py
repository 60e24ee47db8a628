"""Table I of [BOW] in hardware: the number of register file writes of $r0 to $r3 by the program of Fig. 6.

`tests/datapath/test_worked_examples.py` tests the same for compiler and model, and states where the table differs from
the program.
"""

from collections import Counter

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.arch.layout import address, rows_per_warp
from warploom.arch.mechanisms import Bypass
from warploom.compiler.prepare import prepared
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.tb import runner
from warploom.tb.bench import Ports
from warploom.tb.bypass.figures import FIG_6, FIG_6_LAUNCH, TABLE_1, WINDOW, spaced
from warploom.tb.comparison import Comparison
from warploom.tb.lockstep_bench import Simulated
from warploom.tb.outside import OutsideUnits

EXPECTED = {
    Bypass.BOW: TABLE_1.write_through, Bypass.BOW_WR: TABLE_1.write_back, Bypass.BOW_HINTS: TABLE_1.hinted,
}

PAUSE = 8
"""Cycles after each instruction, in which the collector evicts expired entries."""


async def count(ports: Ports, trace: Trace) -> Counter[tuple[int, int]]:
    """Writes in hardware, by bank and row, until the last line of the program has issued; all in lockstep."""
    hardware, sm = Simulated(ports), Sm(ports.config, trace, check=True)
    comparison, writes, over = Comparison(hardware, OutsideUnits(), trace), Counter[tuple[int, int]](), False
    while comparison.step(sm):
        if not over:
            probe = ports.codecs["probe"].unpack(hardware.read("probe"))
            writes.update((bank, probe[f"bank{bank}_row"]) for bank in range(ports.config.banks)
                          if probe[f"bank{bank}_write"])
        over |= any(issue is not None and issue["op"] == Op.ISETP for issue in sm.inputs.issue)
        await ports.next_cycle()
    return writes


@cocotb.test()
async def table_1(dut: cocotb.handle.SimHandleBase) -> None:
    """The program of Fig. 6, in lockstep with the model."""
    ports = Ports(dut)
    trace = execute(spaced(prepared(FIG_6, ports.config), PAUSE), FIG_6_LAUNCH).trace
    assert trace is not None
    await ports.reset()
    writes, stride = await count(ports, trace), rows_per_warp(ports.config, trace.program.registers)
    addresses = [address(ports.config, stride, 0, register) for register in range(4)]
    assert tuple(writes[address] for address in addresses) == EXPECTED[ports.config.bypass]


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize(("bypass", "entries"), [(Bypass.BOW, 12), (Bypass.BOW_WR, 6), (Bypass.BOW_HINTS, 12)])
def test_001_table_1(bypass: Bypass, entries: int, seed: int) -> None:
    """On some of the hardware that also runs whole kernels."""
    config = SmConfig.preset("small").with_settings([f"bypass={bypass}", f"window={WINDOW}", f"entries={entries}"])
    runner.run(runner.build(config, "Datapath"), "warploom.tb.bypass.test_table_1", seed)
