"""Floating-point units and the golden model against MPFR: the golden model on some cases of each operation, and in the
long regression model and hardware on a million."""

import numpy as np
import pytest
from support import mpfr

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.tb import runner
from warploom.tb.float import sheet, test_compare, test_convert, test_divide, test_fused
from warploom.tb.float.cases import Cases, Family

FEW, MANY = 20_000, 1_000_000

REFERENCES = {
    "FusedMultiplyAdd": (test_fused, mpfr.arithmetic), "FloatCompare": (test_compare, mpfr.comparison),
    "Converter": (test_convert, mpfr.conversion), "Divider": (test_divide, mpfr.division),
}
"""The bench of each unit, and the reference of its results."""

OPERATIONS = [pytest.param(unit, family, id=f"{family.op.name}-{k}")
              for unit, (bench, _) in REFERENCES.items() for k, family in enumerate(bench.FAMILIES)]


def first_difference(cases: Cases, found: np.ndarray, wanted: np.ndarray) -> str | None:
    different = np.flatnonzero(found != wanted)
    if not len(different):
        return None
    k = different[0]
    return (f"{cases.instruction} of {[hex(words[k]) for words in cases.operands]}: {found[k]:#x}, "
            f"of MPFR {wanted[k]:#x}; {len(different)} of {len(found)} differ")


def model_and_reference(unit: str, family: Family, count: int, seed: int) -> int:
    """Compares the golden model with the reference; the number of cases."""
    _, reference = REFERENCES[unit]
    compared = 0
    for cases in family.cases(np.random.default_rng(seed), count):
        found = cases.results()[cases.instruction.op is Op.FSETP]
        assert not first_difference(cases, found, reference(cases.instruction, cases.operands, cases.pred))
        compared += len(cases)
    return compared


@pytest.mark.parametrize(("unit", "family"), OPERATIONS)
def test_the_model_rounds_as_mpfr(unit: str, family: Family, seed: int) -> None:
    assert model_and_reference(unit, family, FEW, seed) >= FEW


@pytest.mark.long
@pytest.mark.rtl
@pytest.mark.parametrize(("unit", "family"), OPERATIONS)
def test_a_million_of_each_operation(unit: str, family: Family, seed: int) -> None:
    """The model rounds as MPFR, and the hardware as the model."""
    bench, _ = REFERENCES[unit]
    compared = model_and_reference(unit, family, MANY, seed)
    made = runner.build(SmConfig.preset("small"), unit)
    executed = sheet.execute(made, [*family.cases(np.random.default_rng(seed), MANY)], bench.control, seed)
    assert executed.differs is None
    assert executed.cases == compared >= MANY
    print(f"{family.op.name}: {compared:,} cases in {executed.cycles:,} cycles")
