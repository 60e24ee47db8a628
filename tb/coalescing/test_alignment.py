"""Bench of the operand path: hardware against `warploom.golden_model.byte_order` and `width`."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.byte_order import from_sub_banks, to_sub_banks
from warploom.golden_model.register_file.width import restore
from warploom.golden_model.words import broadcast
from warploom.rtl.coalescing.alignment import OperandPath
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.narrow_values import decoded, encoding, encoding_at

CYCLES = 1000


def stimuli() -> Iterator[Stimulus]:
    """Random slices under all encodings; slices that an encoding does not use are random, too."""
    rng = source()
    for _ in range(CYCLES):
        yield {"word": rng.getrandbits(WARP_BITS), "encoding": decoded(encoding(rng))}


class OperandCheck:
    """The operand equals the model's; its bytes above the width are copies of the sign, and storing it again gives the
    slices in use."""

    def __init__(self, checker: Checker, coverage: Coverage) -> None:
        self._checker, self._coverage = checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one operand."""
        stored, operand = encoding_at(seen["encoding"]), seen["operand"]
        self._checker.equal("operand", operand, restore(from_sub_banks(seen["word"], stored.left), stored))
        above = broadcast(0xFFFFFFFF & ~((1 << 8 * stored.width) - 1))
        self._checker.equal("bytes above the width", operand & above, above if stored.sign else 0)
        used = sum((1 << 256) - 1 << 256 * k for k in range(4) if stored.mask >> k & 1)
        again = to_sub_banks(operand, stored.left)
        self._checker.equal("slices in use", again & used, seen["word"] & used)
        self._coverage.hit(f"width {stored.width}, sign {stored.sign}, {'left' if stored.left else 'right'}")


@cocotb.test()
async def random_operands(dut: cocotb.handle.SimHandleBase) -> None:
    """Operands of all encodings."""
    ports, checker = Ports(dut), Checker(minimum=3 * CYCLES)
    coverage = Coverage(*(f"width {width}, sign {sign}, {side}"
                          for width in (1, 2, 3, 4) for sign in (0, 1) for side in ("left", "right")))
    await exercise(ports, stimuli(), OperandCheck(checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_alignment(seed: int) -> None:
    made = runner.build(SmConfig.preset("small"), "OperandPath", component=OperandPath())
    runner.run(made, "warploom.tb.coalescing.test_alignment", seed)
