"""Bench of the expander: hardware against `warploom.golden_model.compact`."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import LANES, SmConfig
from warploom.golden_model.compact import Compact
from warploom.tb import runner
from warploom.tb.affine.operands import multiples, random_compact
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

CYCLES = 3000


def stimuli() -> Iterator[Stimulus]:
    """Compact registers, many of which wrap."""
    rng = source()
    for _ in range(CYCLES):
        value = random_compact(rng)
        stride = value.stride & (1 << STRIDE_BITS) - 1
        yield {"value": {"base": value.base, "stride": stride, **multiples(stride)}}


class ExpanderCheck:
    """All lanes are the model's; the first is the base."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._value, self._checker, self._coverage = ports.codecs["value"], checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one register."""
        base, stride = self._value.field(seen["value"], "base"), self._value.field(seen["value"], "stride")
        value = Compact(base, stride - (stride >> STRIDE_BITS - 1 << STRIDE_BITS))
        self._checker.equal(f"{value}", seen["word"], value.word())
        self._coverage.hit("uniform", not value.stride)
        self._coverage.hit("the smallest stride", value.stride == -1 << STRIDE_BITS - 1)
        self._coverage.hit("the largest stride", value.stride == (1 << STRIDE_BITS - 1) - 1)
        way = (LANES - 1) * value.stride
        self._coverage.hit("wraps upward", base + way >> 32 > 0)
        self._coverage.hit("wraps downward", base + way < 0)


@cocotb.test()
async def random_registers(dut: cocotb.handle.SimHandleBase) -> None:
    """Random bases and strides."""
    ports = Ports(dut)
    checker = Checker(minimum=CYCLES)
    coverage = Coverage("uniform", "the smallest stride", "the largest stride", "wraps upward", "wraps downward")
    await exercise(ports, stimuli(), ExpanderCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_expander(seed: int) -> None:
    made = runner.build(SmConfig.preset("small"), "Expander")
    runner.run(made, "warploom.tb.affine.test_expand", seed)
