"""The FG-SIMT engine with fewer lanes (docs/contract/fg_simt.md: N lanes, G groups of a warp)."""

import re
from functools import partial
from pathlib import Path

import pytest
from support.assembler import Assembler
from support.fg_simt_kernels import kernel, launch
from support.fg_simt_runs import executed

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.fg_simt.sizes import LANE_COUNTS, Sizes
from warploom.arch.isa import Op
from warploom.arch.mechanisms import Affine
from warploom.fg_simt.images import Started
from warploom.fg_simt.programs import started
from warploom.golden_model.fg_simt.cached_memory import CachedMemory

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fg_simt.md"

ROWS = {(name, kind): [int(text.replace(",", "")) for text in cycles.split(" | ")] for name, kind, cycles in re.findall(
    r"^\| (\w+) \| (off|abm) \| ([\d,]+(?: \| [\d,]+){7}) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)}
"""The table of the page: cycles with 8, 4, 2 and 1 lanes, on the ideal memory and then behind the L1."""


@pytest.mark.parametrize(("name", "kind"), [
    pytest.param(*row, marks=() if row[0] == "cmult" else pytest.mark.long) for row in ROWS])
def test_a_program_has_the_same_results_and_takes_longer(name: str, kind: str) -> None:
    """As long as the page says."""
    launches, affine = started(name), Affine(kind)
    ideal, cached = [], []
    for lanes in sorted(LANE_COUNTS, reverse=True):
        sizes = Sizes(lanes)
        ideal.append(executed(launches, affine, sizes=sizes).kernel_cycles)
        cached.append(executed(launches, affine, partial(CachedMemory, sizes=sizes), sizes=sizes).kernel_cycles)
    assert [*ideal, *cached] == ROWS[name, kind]
    assert all(few < many for few, many in zip(ideal, cached, strict=True))
    assert ideal == sorted(ideal)


@pytest.mark.parametrize("lanes", LANE_COUNTS)
@pytest.mark.parametrize(("op", "cycles"), [(Op.FADD, 1), (Op.IDIV, 17)])
def test_operations_of_one_unit_follow_each_other(op: Op, cycles: int, lanes: int) -> None:
    """An operation takes its unit for a cycle of each group, a division for 17."""
    def body(code: Assembler, count: int) -> None:
        for _ in range(count):
            code.op(op, 13, 0, 0)

    sizes, counts = Sizes(lanes), (10, 20)
    few, many = (executed([Started(kernel(partial(body, count=count)), launch())], Affine.OFF, sizes=sizes)
                 for count in counts)
    assert many.kernel_cycles - few.kernel_cycles == (counts[1] - counts[0]) * cycles * sizes.groups


def test_wrong_numbers_of_lanes() -> None:
    assert SmConfig().engine == Sizes(8)
    assert SmConfig().with_settings(["engine_lanes=2"]).engine.groups == 16
    with pytest.raises(ConfigError, match="lanes = 3: must be one of 1, 2, 4, 8"):
        Sizes(3)
