"""Figure 4.3 of [RADAIDEH] in the gated collector: the columns of a register that are read, and those it stores."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import issue_fields
from warploom.arch.isa import NO_SLOT
from warploom.golden_model.words import ALL_LANES, join, split
from warploom.tb import runner
from warploom.tb.bench import Checker, Observation, Ports, exercise
from warploom.tb.gating.figures import FIG_4_3
from warploom.tb.operands.test_collector import planned


@cocotb.test()
async def fig_4_3(dut: cocotb.handle.SimHandleBase) -> None:
    """Of threads 0 to 3 only those that are active and not marked zero are read and stored. Only slot 0 reads."""
    ports, checker, figure = Ports(dut), Checker(minimum=5), FIG_4_3
    fields = dict.fromkeys((name for name, _ in issue_fields(ports.config)), 0)
    take = {
        "take": 1, "instruction__issue": fields | {"reads": 1, "lanes": figure.active, "imm_slot": NO_SLOT},
        "instruction__address": {"0": {"bank": 1, "row": 5, "left": 0}},
    }
    looked_up = {"instruction__late": figure.zero, "read__grant": 1 << 1}
    arriving = {"read__word": join([*figure.held, *[0] * 28])}
    before: list[tuple[int, ...]] = []

    def check(seen: Observation) -> None:
        threads = split(ports.codecs["offer__operands"].array(seen["offer__operands"])[0])[:4]
        if checker.cycle == 1:
            checker.equal("request", seen["read__request"], 1 << 1)
            checker.equal("columns", ports.codecs["read__columns"].array(seen["read__columns"])[1], figure.enabled)
            before.append(threads)
        if checker.cycle == 3:
            kept = [value if figure.enabled >> i & 1 else old
                    for i, (value, old) in enumerate(zip(figure.held, before[0], strict=True))]
            checker.equal("ready", seen["offer__ready"], 1)
            checker.equal("stored", list(threads), kept)
            checker.equal("zero mask, for the operand path", seen["offer__late"] & ALL_LANES, figure.zero)

    await exercise(ports, planned(ports.config, [take, looked_up, arriving, {}]), check, checker, partial=True)


@pytest.mark.rtl
def test_000_fig_4_3(seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["gating=in_lane"])
    runner.run(runner.build(config, "Collector"), "warploom.tb.gating.test_read", seed)
