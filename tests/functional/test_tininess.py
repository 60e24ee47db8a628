"""Results next to 2^-126, the smallest normal number, with `.ftz`: a GPU flushes those that are tiny after rounding, as
IEEE 754 defines it (docs/contract/float.md). `recorded/tininess.npz` has what an H200 answered; it names the driver."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from amaranth.sim import Simulator
from support import exact
from support.exact import F32
from support.ptx_rows import run
from test_float_operations import saturated

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Rounding
from warploom.rtl.float.rounding import Round
from warploom.tb import runner
from warploom.tb.float import sheet, test_divide, test_fused
from warploom.tb.float.cases import Cases

with np.load(Path(__file__).parents[1] / "recorded" / "tininess.npz") as archive:
    NAMES, OPERANDS, ANSWERS = archive["names"].tolist(), archive["operands"], archive["results"]
"""PTX instructions; 64 words for each operand of each of them, in their order; 64 answers for each."""

SMALLEST = 0x00800000
MAGNITUDE = 0x7FFFFFFF
OPS = {"mul": Op.FMUL, "fma": Op.FFMA, "div": Op.FDIV, "rcp": Op.FRCP}
UNITS = {"FusedMultiplyAdd": (test_fused, ("mul", "fma")), "Divider": (test_divide, ("div", "rcp"))}


def operands_of(name: str) -> int:
    return {"fma": 3, "rcp": 1, "cvt": 1}.get(name[:3], 2)


def columns() -> dict[str, np.ndarray]:
    """The operands of each instruction."""
    ends = np.cumsum([operands_of(name) for name in NAMES])
    return {name: OPERANDS[end - operands_of(name) : end] for name, end in zip(NAMES, ends, strict=True)}


def test_the_model_flushes_what_a_gpu_flushes():
    rows = [{"name": name, "ins": ["f64" if name.startswith("cvt") else "f32"] * operands_of(name), "outs": ["f32"],
             "ptx": f"{name} %d, {', '.join(['%a', '%b', '%c'][: operands_of(name)])};", "form": "plain"}
            for name in NAMES]
    for name, model, chip in zip(NAMES, run(rows, OPERANDS), ANSWERS, strict=True):
        assert model.tolist() == chip.tolist(), name
    kept = {name: int((chip & MAGNITUDE == SMALLEST).sum()) for name, chip in zip(NAMES, ANSWERS, strict=True)}
    assert all(0 < kept[f"{op}.{to}.ftz.f32{of}"] < 64
               for op, of in (("mul", ""), ("fma", ""), ("cvt", ".f64")) for to in ("rn", "rm", "rp"))


def recorded_cases(name: str) -> Cases:
    """The recorded executions of an instruction."""
    instruction = Instruction(op=OPS[name[:3]], rounding=Rounding[name.split(".")[1].upper()], ftz=True,
                              sat=".sat" in name)
    words = [column.astype(np.uint32) for column in columns()[name]]
    a, b, c = words + [np.zeros(64, np.uint32)] * (3 - len(words))
    return Cases(instruction, (a, b, c), np.zeros(64, bool))


@pytest.mark.rtl
@pytest.mark.parametrize("unit", UNITS)
def test_the_hardware_flushes_what_a_gpu_flushes(unit: str, seed: int) -> None:
    bench, operations = UNITS[unit]
    names = [name for name in NAMES if name[:3] in operations]
    cases = [recorded_cases(name) for name in names]
    for name, some in zip(names, cases, strict=True):
        assert some.results()[0].tolist() == ANSWERS[NAMES.index(name)].tolist()
    made = runner.build(SmConfig.preset("small"), unit)
    executed = sheet.execute(made, cases, bench.control, seed)
    assert executed.differs is None
    assert executed.cases == 64 * len(names)


@pytest.mark.parametrize("negative", [False, True])
def test_the_thresholds_of_the_contract(negative: bool):
    def is_kept(units: Fraction, rounding: Rounding) -> bool:
        """Whether 2^-126 less some units of 2^-151 gives 2^-126, else zero."""
        value = (1 - units / 2**25) / 2**126
        word = exact.encode(-value if negative else value, F32, rounding, flush=True)
        assert word >> 31 == negative and word & MAGNITUDE in (0, SMALLEST)
        return bool(word & MAGNITUDE)

    away, to_its_side = (Rounding.RM, Rounding.RP) if negative else (Rounding.RP, Rounding.RM)
    little = Fraction(1, 2**100)
    assert is_kept(Fraction(1), Rounding.RN) and not is_kept(1 + little, Rounding.RN)
    assert is_kept(2 - little, away) and not is_kept(Fraction(2), away)
    assert not any(is_kept(little, rounding) for rounding in (Rounding.RZ, to_its_side))


def test_the_rounding_stage_around_the_smallest_number():
    """All bits below a few fractions, with all modifiers, against rationals."""
    stage, checked = Round(), 0
    ones = (1 << F32.fraction) - 1
    bits = list(product((0, 1), repeat=4))  # sign, guard, below, sticky

    async def bench(ctx):
        nonlocal checked
        for rounding, ftz, sat, exponent, fraction in product(Rounding, (0, 1), (0, 1), (0, 1), (0, ones - 1, ones)):
            ctx.set(stage.modes, {"rounding": rounding.value, "ftz": ftz, "sat": sat})
            for sign, guard, below, sticky in bits:
                ctx.set(stage.exact, {"sign": sign, "exponent": exponent, "fraction": fraction, "guard": guard,
                                      "below": below, "sticky": sticky})
                eighths = (exponent << F32.fraction | fraction) << 3 | guard << 2 | below << 1 | sticky
                value = Fraction(-eighths if sign else eighths, 8) / 2**149
                word = exact.encode(value, F32, rounding, negative_zero=bool(sign), flush=bool(ftz))
                assert ctx.get(stage.word) == (saturated(word) if sat else word), (rounding, ftz, sat, hex(eighths))
                checked += 1

    simulator = Simulator(stage)
    simulator.add_testbench(bench)
    simulator.run()
    assert checked == 4 * 2 * 2 * 2 * 3 * 16
