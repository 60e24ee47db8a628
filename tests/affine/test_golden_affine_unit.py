"""The golden affine unit and its register file (docs/contract/affine.md): cycles and registers."""

import itertools
import random
from dataclasses import replace
from typing import Any

import pytest
from support.affine_runs import executed

from warploom.arch.compact import Tag
from warploom.arch.config import LANES, SmConfig
from warploom.arch.encoding import encode_modifiers
from warploom.arch.fields import pack
from warploom.arch.interfaces import attempt_fields, issue_fields, outcome_fields
from warploom.arch.isa import NO_SLOT, Instruction, Op
from warploom.arch.launch import Scalar
from warploom.arch.modifiers import Access, Combine, Cond, Rounding, Space
from warploom.golden_model.affine.register_file import AffineRegisterFile
from warploom.golden_model.affine.uniform import UniformUnit
from warploom.golden_model.affine.unit import AffineUnit
from warploom.golden_model.compact import Compact
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.words import ALL_LANES, split
from warploom.tb.bypass.figures import FIG_6, FIG_6_LAUNCH

CONFIG = SmConfig.preset("small").with_settings(["affine=abm", "schedulers=2"])
REGISTERS = 8
HALF = 0xFFFF
MASK = 0xFFFFFFFF


def fields(
    op: Op, dst: int | None = None, *src: int | None, imm: int = 0, warp: int = 0, **settings: Any
) -> dict[str, int]:
    """An attempt: `src` are registers, None in the slot of the immediate."""
    modifiers = {name: value for name, value in settings.items() if name in ("cond", "combine")}
    values = {name: 0 for name, _ in attempt_fields(CONFIG)} | {
        "warp": warp, "op": int(op), "modifiers": encode_modifiers(Instruction(op=op, **modifiers)),
        "dst": dst or 0, "writes": int(dst is not None), "imm": imm, "lanes": ALL_LANES,
        "imm_slot": src.index(None) if None in src else NO_SLOT,
        "reads": sum(1 << slot for slot, register in enumerate(src) if register is not None),
    } | {f"src{slot}": register or 0 for slot, register in enumerate(src)}
    values |= {name: value for name, value in settings.items() if name not in modifiers}
    pack(attempt_fields(CONFIG), values)
    return values


def no_unit(*_: Any) -> tuple[int, int]:
    raise AssertionError("the uniform unit was asked")


def unit_with(*values: Compact, warp: int = 0, uniform_unit: Any = no_unit) -> AffineUnit:
    """A unit in which R0, R1, ... of a warp hold these values."""
    unit = AffineUnit(CONFIG, REGISTERS, uniform_unit)
    for register, value in enumerate(values):
        unit.registers.write(warp, register, value)
    return unit


def cycle(unit: AffineUnit, *attempts: dict[str, int] | None) -> None:
    """The end of a cycle with attempts of the first sets, and the wires of the next one."""
    unit.clock([*attempts, *[None] * (CONFIG.schedulers - len(attempts))])
    unit.settle()


def outcome(unit: AffineUnit, attempt: dict[str, int]) -> dict[str, int]:
    """The outcome of an attempt of set 0, which comes four cycles after it."""
    cycle(unit, attempt)
    for _ in range(3):
        assert not any(unit.outcomes)
        cycle(unit)
    result = unit.outcomes[0]
    assert result is not None
    pack(outcome_fields(CONFIG), result)
    cycle(unit)
    assert not any(unit.outcomes)
    return result


def accepted(unit: AffineUnit, attempt: dict[str, int]) -> bool:
    return bool(outcome(unit, attempt)["accepted"])


# ---------------------------------------------------------------------- compact values


@pytest.mark.parametrize(("value", "tag", "lanes"), [
    (Compact(7), Tag.UNIFORM, [7] * LANES),
    (Compact(0xFFFFFFFE, 1), Tag.AFFINE, [0xFFFFFFFE, 0xFFFFFFFF, *range(30)]),
    (Compact(3, -0x8000), Tag.AFFINE, [(3 - 0x8000 * lane) % 2**32 for lane in range(LANES)]),
])
def test_compact_values(value: Compact, tag: Tag, lanes: list[int]) -> None:
    assert value.tag is tag
    assert list(split(value.word())) == lanes == [value.value(lane) for lane in range(LANES)]
    assert value.last == lanes[-1]


# ---------------------------------------------------------------------- the register file


def test_registers_are_apart() -> None:
    """All registers of all warps that fit, written at random, hold the last values written to them."""
    registers = 20
    file, rng = AffineRegisterFile(CONFIG, registers), random.Random(6)
    wanted: dict[tuple[int, int], Compact | None] = {}
    addresses = list(itertools.product(range(CONFIG.warps), range(registers)))
    assert all(file.read(*address) is None and file.tag(*address) is Tag.GENERIC for address in addresses)
    for _ in range(2000):
        address = rng.choice(addresses)
        wanted[address] = Compact(rng.getrandbits(32), rng.choice((0, 5))) if rng.random() < 0.7 else None
        if value := wanted[address]:
            file.write(*address, value)
        else:
            file.make_generic(*address)
    assert {address: file.read(*address) for address in wanted} == wanted
    assert all(file.tag(*address) is (value.tag if value else Tag.GENERIC) for address, value in wanted.items())


def test_a_warp_that_does_not_fit() -> None:
    registers = CONFIG.affine_entries // 2  # so two warps to a set
    file = AffineRegisterFile(CONFIG, registers)
    file.write(2 * CONFIG.schedulers - 1, registers - 1, Compact(1))
    with pytest.raises(IndexError):
        file.write(2 * CONFIG.schedulers, 0, Compact(1))


# ---------------------------------------------------------------------- cycles


def test_an_accepted_result_is_there_after_five_cycles() -> None:
    unit = unit_with(Compact(5, 1), Compact(9))
    cycle(unit, fields(Op.IADD, 2, 0, 1))
    for _ in range(3):
        assert not any(unit.outcomes)
        cycle(unit)
    assert unit.outcomes[0] == {"warp": 0, "accepted": 1, "pred": 0}
    assert unit.registers.tag(0, 2) is Tag.GENERIC
    cycle(unit)
    assert unit.registers.read(0, 2) == (14, 1)
    assert not any(unit.outcomes)


def test_an_attempt_of_each_set_in_every_cycle() -> None:
    seen = []
    unit = AffineUnit(CONFIG, REGISTERS, no_unit)
    for now in range(12):
        seen.append([result and (result["warp"], result["accepted"]) for result in unit.outcomes])
        warps = [(2 * now + number) % CONFIG.warps for number in (0, 1)]
        cycle(unit, *(fields(Op.MOV, now % REGISTERS, None, imm=100 + now, warp=warp) for warp in warps))
    assert seen == [[None, None]] * 4 + [[((2 * t + k) % CONFIG.warps, 1) for k in (0, 1)] for t in range(8)]
    written = {(w, r): v for w in range(CONFIG.warps) for r in range(REGISTERS) if (v := unit.registers.read(w, r))}
    assert written == {((2 * t + k) % CONFIG.warps, t): (100 + t, 0) for t in range(8) for k in (0, 1)}


def test_one_set_does_not_wait_for_the_other() -> None:
    unit = AffineUnit(CONFIG, REGISTERS, no_unit)
    cycle(unit, None, fields(Op.MOV, 1, None, imm=1, warp=1))
    cycle(unit, fields(Op.MOV, 1, None, imm=2, warp=2))
    for _ in range(2):
        cycle(unit)
    assert [result and result["warp"] for result in unit.outcomes] == [None, 1]
    cycle(unit)
    assert [result and result["warp"] for result in unit.outcomes] == [2, None]


def test_a_set_serves_one_instruction_a_cycle() -> None:
    unit = unit_with(Compact(5))
    unit.issued(issue := fields(Op.MOV, 1, 0))
    with pytest.raises(AssertionError, match="two instructions"):
        cycle(unit, issue)
    cycle(unit_with(Compact(5)), None, fields(Op.MOV, 1, None, warp=1))
    with pytest.raises(AssertionError, match="another set"):
        cycle(unit_with(Compact(5)), None, issue)


def test_time_that_nothing_happens_in_is_skipped() -> None:
    unit = unit_with(Compact(5))
    assert unit.next_event() is None
    unit.advance(10)
    cycle(unit, fields(Op.MOV, 1, 0))
    assert (unit.cycle, unit.next_event()) == (11, 14)
    unit.advance(3)
    unit.settle()
    assert unit.outcomes[0] == {"warp": 0, "accepted": 1, "pred": 0}


# ---------------------------------------------------------------------- the datapath


def test_compact_slots_of_an_instruction_that_issues_into_the_datapath() -> None:
    unit = unit_with(Compact(5, 1), Compact(9))
    issue = fields(Op.IMAD, 0, 0, 2, 1)
    assert pack([f for f in issue_fields(CONFIG) if f[0] in issue], issue)
    assert unit.compact(issue) == ((5, 1), None, (9, 0))
    assert unit.compact({**issue, "reads": 0b011}) == ((5, 1), None, None)
    assert unit.compact({**issue, "warp": 1}) == (None, None, None)


def test_a_destination_is_generic_when_its_instruction_has_issued() -> None:
    unit = unit_with(Compact(5, 1), Compact(9))
    issue = fields(Op.IADD, 0, 0, 1)
    unit.issued({**issue, "writes": 0})
    cycle(unit)
    assert unit.registers.read(0, 0) == (5, 1)
    assert unit.compact(issue)[0] == (5, 1)
    unit.issued(issue)
    cycle(unit)
    assert unit.compact(issue) == (None, (9, 0), None)


# ---------------------------------------------------------------------- what is refused, and what it gives


@pytest.mark.parametrize(("change", "is_accepted"), [
    ({}, True),
    ({"src1": 2}, False),  # generic
    ({"src1": 2, "reads": 0b001}, True),  # not read
    ({"warp": 2}, False),  # another warp's registers
    ({"lanes": HALF}, True),
    ({"src2": 0, "reads": 0b111}, False),  # the column does not allow it
    ({"pred": HALF}, False),  # a carry in only in some lanes
    ({"pred": HALF, "lanes": HALF}, True),
    ({"pred": HALF << 16, "lanes": HALF}, True),
])
def test_what_is_refused(change: dict[str, int], is_accepted: bool) -> None:
    unit = unit_with(Compact(5, 1), Compact(9, 2))
    attempt = {**fields(Op.IADD, 3, 0, 1), **change}
    assert accepted(unit, attempt) == is_accepted
    written = unit.registers.read(attempt["warp"], 3)
    assert (written is not None) == (is_accepted and bool(attempt["writes"]))


def test_a_refused_attempt_changes_nothing() -> None:
    unit = unit_with(Compact(5, 0x7FFF), Compact(9, 1))
    assert outcome(unit, fields(Op.IADD, 1, 0, 1, writes_predicate=1)) == {"warp": 0, "accepted": 0, "pred": 0}
    assert unit.registers.read(0, 1) == (9, 1)


def test_the_carry_in_and_out() -> None:
    unit = unit_with(Compact(0xFFFFFFDF, 1), Compact(1))
    carried = fields(Op.IADD, 2, 0, 1, writes_predicate=1, lanes=HALF)
    assert outcome(unit, carried) == {"warp": 0, "accepted": 1, "pred": 0}
    assert unit.registers.read(0, 2) == (0xFFFFFFE0, 1)
    assert not accepted(unit, {**carried, "pred": HALF})
    assert accepted(unit, {**carried, "pred": HALF, "writes_predicate": 0})
    assert unit.registers.read(0, 2) == (0xFFFFFFE1, 1)
    assert outcome(unit, fields(Op.ISUB, 3, None, 1, imm=0, writes_predicate=1, lanes=HALF))["pred"] == HALF


def test_constants() -> None:
    """The immediate, zero for no register, and for S2R the special register."""
    unit = unit_with(Compact(5, 1))
    for attempt, result in (
        (fields(Op.IADD, 1, 0, None, imm=3), (8, 1)),
        (fields(Op.IADD, 1, None, 0, imm=3), (8, 1)),
        (fields(Op.ISUB, 1, 0), (5, 1)),
        (fields(Op.ISUB, 1, 0, None, imm=3, reads=0), (0xFFFFFFFD, 0)),
        (fields(Op.IMAD, 1, 0, None, imm=3), (15, 3)),
        (fields(Op.S2R, 1, imm=64, step=1), (64, 1)),
        (fields(Op.S2R, 1, imm=64), (64, 0)),
    ):
        assert accepted(unit, attempt)
        assert unit.registers.read(0, 1) == result


@pytest.mark.parametrize("combine", Combine)
@pytest.mark.parametrize("op", [Op.ISETP, Op.FSETP])
@pytest.mark.parametrize("holds", [0, 1])
def test_comparisons_are_combined_lane_by_lane(op: Op, combine: Combine, holds: int) -> None:
    unit = unit_with(Compact(5), Compact(5 + holds), uniform_unit=lambda *_: (0, holds))
    pred, lanes = 0x00FF00FF, 0x0FFFFFFF
    attempt = fields(op, 3, 0, 1, cond=Cond.LT, combine=combine, pred=pred, lanes=lanes)
    word = ALL_LANES * holds
    wanted = {Combine.AND: word & pred, Combine.OR: word | pred, Combine.XOR: word ^ pred}[combine]
    assert outcome(unit, attempt) == {"warp": 0, "accepted": 1, "pred": wanted & lanes}
    assert unit.registers.tag(0, 3) is Tag.GENERIC  # no result, whatever the destination


# ---------------------------------------------------------------------- the uniform unit


def test_the_uniform_unit() -> None:
    asked: list[tuple[int, ...]] = []

    def uniform_unit(*operation: int) -> tuple[int, int]:
        asked.append(operation)
        return 77, 0

    unit = unit_with(Compact(5), Compact(9), uniform_unit=uniform_unit)
    attempt = fields(Op.FFMA, 2, 0, None, 1, imm=3)
    assert not any(unit.requests)
    cycle(unit, attempt)
    assert unit.requests == [{"op": Op.FFMA, "modifiers": 0, "a": 5, "b": 3, "c": 9}, None]
    assert asked == [(Op.FFMA, 0, 5, 3, 9)]
    assert unit.next_event() == 1
    cycle(unit)
    assert not any(unit.requests)
    for _ in range(2):
        cycle(unit)
    assert unit.outcomes[0] == {"warp": 0, "accepted": 1, "pred": 0}
    cycle(unit)
    assert unit.registers.read(0, 2) == (77, 0)
    assert unit.next_event() is None


@pytest.mark.parametrize("change", [{"src0": 1}, {"src0": 2}])
def test_the_uniform_unit_does_not_see_what_is_refused(change: dict[str, int]) -> None:
    unit = unit_with(Compact(5), Compact(9, 1))
    cycle(unit, {**fields(Op.FADD, 3, 0, 0), **change})
    assert not any(unit.requests)
    for _ in range(3):
        cycle(unit)
    assert unit.outcomes[0] == {"warp": 0, "accepted": 0, "pred": 0}


def test_the_uniform_answer_to_a_comparison_is_that_of_the_comparison_alone() -> None:
    """1.0 < 2.0 holds for every `combine`: each lane combines it separately."""
    one, two, uniform = 0x3F800000, 0x40000000, UniformUnit(executed())
    for combine in Combine:
        less = Instruction(op=Op.FSETP, pdst=0, psrc=1, cond=Cond.LT, combine=combine)
        answers = [uniform(less.op, encode_modifiers(less), *pair, 0) for pair in ((one, two), (two, one))]
        assert answers == [(0, 1), (0, 0)]
    upwards = Instruction(op=Op.FADD, dst=1, rounding=Rounding.RP)
    assert uniform(upwards.op, encode_modifiers(upwards), one, 1, 0) == (one + 1, 0)


@pytest.mark.parametrize(("access", "a", "offset", "value"), [
    (Access.B32, 8, 4, 0x0F0E0D0C), (Access.U8, 250, 3, 253), (Access.S8, 250, 3, 0xFFFFFFFD),
    (Access.S16, 0x100, -2, 0xFFFFFFFE), (Access.U16, 0, 2, 0x0302),
])
def test_uniform_loads(access: Access, a: int, offset: int, value: int) -> None:
    """Byte n of the constants is n; an address of two words is one number."""
    load, unit = Instruction(op=Op.LD, dst=1, space=Space.CONST, access=access), UniformUnit(executed())
    wide = replace(load, wide=True)
    assert unit(load.op, encode_modifiers(load), a, 99, offset & MASK) == (value, 0)
    assert unit(load.op, encode_modifiers(wide), a, 0, offset & MASK) == (value, 0)
    assert unit(load.op, encode_modifiers(wide), a + offset + (1 << 31), 0, 1 << 31) == (value, 0)  # - 2^31


def test_uniform_loads_of_parameters() -> None:
    """The word given by the launch."""
    load = Instruction(op=Op.LD, dst=1, space=Space.PARAM, access=Access.B32)
    trace = execute(FIG_6, replace(FIG_6_LAUNCH, arguments=(Scalar("u32", bytes([8, 0, 0, 0])),))).trace
    assert trace is not None
    assert UniformUnit(trace)(load.op, encode_modifiers(load), 0x18, 0, 0) == (8, 0)
