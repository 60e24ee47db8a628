"""The evaluation of the affine unit: structure counted in traces, figures and Table 1 by hand, and the command."""

from dataclasses import replace

import numpy as np
import pytest
from support.golden_traces import trace_of
from support.runs import run

from warploom.arch.compact import Tag
from warploom.arch.config import SmConfig, Timing
from warploom.arch.isa import Instruction, Op, TimingClass
from warploom.arch.mechanisms import Affine, Bypass, Coalescing, Gating
from warploom.arch.modifiers import Access, Combine, Cond, DType, Space, Special
from warploom.evaluation.affine import experiment as affine
from warploom.evaluation.affine import table
from warploom.evaluation.affine.bars import BASELINE, FULL, composed, name
from warploom.evaluation.affine.energy import table_bits
from warploom.evaluation.charts import COLOURS
from warploom.evaluation.figures import Figure, Measured, Run
from warploom.evaluation.hardware import experiment as hardware
from warploom.evaluation.hardware.overhead import affine_overheads
from warploom.evaluation.traces.structure import Structure, structure, tags

NARROW = SmConfig.preset("narrow")
ALL = affine.configurations(NARROW)
FULL_MASK, HALF = 0xFFFFFFFF, 0xFFFF
LANES = np.arange(32)
EVERY = np.ones(32, bool)
GENERIC, UNIFORM, AFFINE = Tag


# ------------------------------------------------------------------ words


def tag(words: np.ndarray, lanes: np.ndarray = EVERY, kind: type = np.uint32) -> Tag:
    return Tag(tags(words.astype(kind)[None], lanes[None])[0])


@pytest.mark.parametrize(("stride", "expected"), [
    (0, UNIFORM), (1, AFFINE), (-4, AFFINE), (0x7FFF, AFFINE), (-0x8000, AFFINE), (0x8000, GENERIC), (-0x8001, GENERIC),
])
def test_a_line_has_a_stride_of_16_bits(stride, expected):
    assert tag(100 + stride * LANES) is expected


def test_words_wrap_around():
    assert tag(0xFFFFFFFE + LANES) is AFFINE
    assert tag(-5 * LANES) is AFFINE


def test_one_word_off_the_line_is_enough():
    words = 7 + 4 * LANES
    words[30] += 1
    assert tag(words) is GENERIC
    assert tag(words, LANES != 30) is AFFINE


def test_only_executing_lanes_count():
    words = np.where(LANES % 2, 99 - LANES, 3 * LANES)
    assert tag(words) is GENERIC
    assert tag(words, LANES % 2 == 0) is AFFINE  # the stride of lanes two apart is half of what they differ by
    assert tag(words, LANES == 17) is UNIFORM


def test_a_stride_between_lanes_apart_must_be_whole():
    assert tag(5 * (LANES // 2), LANES % 2 == 0) is GENERIC
    assert tag(6 * (LANES // 2), LANES % 2 == 0) is AFFINE


def test_addresses_have_64_bits():
    assert tag(0x7000_0000_0000 + 4 * LANES, kind=np.uint64) is AFFINE
    assert tag(0x7000_0000_0000 + (LANES << 32), kind=np.uint64) is GENERIC


# ------------------------------------------------------------------ traces


def mov(register: int, value: int = 1) -> Instruction:
    return Instruction(op=Op.MOV, dst=register, imm_slot=0, imm=value)


LANE = Instruction(op=Op.S2R, dst=0, special=Special.LANEID)


def counted(generic: int, uniform: int, affine: int) -> list[int]:
    return [generic, uniform, affine]


def test_instructions_by_kind():
    code = [mov(0), Instruction(op=Op.IMAD, dst=1, src=(0, 0, 0)), Instruction(op=Op.FADD, dst=2, src=(0, 0, 255)),
            Instruction(op=Op.ISETP, pdst=1, src=(1, 2, 255)), Instruction(op=Op.MUFU, dst=2, src=(0, 255, 255)),
            Instruction(op=Op.BRA), Instruction(op=Op.BAR),
            Instruction(op=Op.LD, dst=3, src=(0, 255, 255), space=Space.SHARED, access=Access.B32),
            Instruction(op=Op.RED, src=(0, 255, 1), space=Space.SHARED, dst_type=DType.U32)]
    found = structure(trace_of(code))
    assert (found.instructions, found.long_latency, found.control, found.memory) == (10, 3, 1, 2)  # with EXIT
    assert sum(found.active) == 7 and found.active[32] == 7


def test_executing_lanes():
    """Two of five instructions that enter the datapath do not execute in all lanes; none after half of the warp has
    exited."""
    code = [mov(0), mov(0), mov(0), mov(0), Instruction(op=Op.EXIT), mov(0), mov(0)]
    found = structure(trace_of(code, lanes=[FULL_MASK, HALF, 1, 0, HALF, FULL_MASK ^ HALF, FULL_MASK ^ HALF]))
    assert {count: n for count, n in enumerate(found.active) if n} == {32: 1, 16: 3, 1: 1}
    assert found.diverged == 2


def test_registers_and_whole_instructions():
    code = [LANE, mov(1), *(Instruction(op=op, dst=dst, src=src) for op, dst, src in (
        (Op.IADD, 2, (0, 1, 255)), (Op.IADD, 3, (0, 0, 2)), (Op.IMUL, 4, (0, 0, 255)), (Op.IADD, 5, (4, 1, 255)),
    ))]
    found = structure(trace_of(code))
    assert found.reads == counted(1, 2, 4)  # R4; R1 twice; R0 three times, named twice by two of them, and R2
    assert found.writes == counted(2, 1, 3)
    assert found.able == counted(2, 1, 3)  # the squares are not linear, nor are values computed from them


def test_a_write_in_some_lanes_leaves_the_others():
    code = [mov(1, 5), mov(1, 6), Instruction(op=Op.IADD, dst=2, src=(1, 255, 255))]
    assert structure(trace_of(code, lanes=[FULL_MASK, HALF, FULL_MASK])).reads == counted(1, 0, 0)
    assert structure(trace_of(code, lanes=[FULL_MASK, HALF, HALF])).reads == counted(0, 1, 0)


def test_a_read_has_what_the_register_held_then():
    """R0 is the lane, and later a constant."""
    use = Instruction(op=Op.IADD, dst=2, src=(0, 255, 255))
    assert structure(trace_of([LANE, use, mov(0), use])).reads == counted(0, 1, 1)


def test_predicates_must_agree():
    def able(bound: int) -> list[int]:
        return structure(trace_of([LANE, Instruction(op=Op.ISETP, pdst=1, src=(0, 255, 255), imm_slot=1, imm=bound,
                                                     cond=Cond.LT, combine=Combine.OR)])).able

    assert able(32) == able(0) == counted(0, 0, 2)
    assert able(16) == counted(1, 0, 1)


def test_operations_that_the_unit_lacks_are_generic():
    for op in (Op.VOTE, Op.MUFU, Op.LD):
        trace = trace_of([mov(1), Instruction(op=op, dst=2, src=(1, 255, 255))])
        trace.results[:] = 1
        assert structure(trace).able == counted(1, 1, 0), op


def test_floating_point_is_for_uniform_operands():
    """A product with the same value in all lanes."""
    for first, expected in ((LANE, counted(1, 0, 1)), (mov(0), counted(0, 2, 0))):
        trace = trace_of([first, Instruction(op=Op.FMUL, dst=1, src=(0, 255, 255))])
        trace.results[1] = trace.warps[0].pred_out[1] = 0
        assert structure(trace).able == expected


def test_memory():
    """A load from a line of addresses; a constant is stored to one word, a register to scattered ones."""
    code = [LANE, Instruction(op=Op.LD, dst=1, src=(0, 255, 255), space=Space.GLOBAL, access=Access.B32),
            Instruction(op=Op.ST, src=(0, 255, 255), space=Space.GLOBAL, access=Access.B32),
            Instruction(op=Op.ST, src=(1, 255, 0), space=Space.GLOBAL, access=Access.B32)]
    trace = trace_of(code)
    trace.addresses[:] = [4 * LANES, 0 * LANES + 64, LANES**2]
    trace.results[1] = LANES**2
    found = structure(trace)
    assert (found.load_addresses, found.load_data) == (counted(0, 0, 1), counted(1, 0, 0))
    assert (found.store_addresses, found.store_data) == (counted(1, 1, 0), counted(0, 1, 1))
    assert found.reads == counted(1, 0, 3)


def test_a_load_without_a_result_has_an_address_and_no_data():
    trace = trace_of([LANE, Instruction(op=Op.LD, src=(0, 255, 255), space=Space.GLOBAL, access=Access.B32)])
    found = structure(trace)
    assert (sum(found.load_addresses), sum(found.load_data)) == (1, 0)


# ------------------------------------------------------------------ configurations


def test_configurations():
    assert len(ALL) == 36
    assert ALL[BASELINE] == NARROW and ALL[FULL] == replace(NARROW, affine=Affine.ABM)
    assert {key.rpartition("_")[2] for key in ALL} == {"off", "a", "ab", "abm"}
    assert all(config.affine == key.rpartition("_")[2] for key, config in ALL.items())
    assert all(key.replace("_abm", "_off") in ALL for key in ALL)


def test_fewer_lanes_take_longer():
    timing = {lanes: ALL[name(Affine.OFF, lanes)].timing_of for lanes in (8, 16, 32)}
    assert [timing[32](every) for every in TimingClass] == [NARROW.timing_of(every) for every in TimingClass]
    assert [timing[lanes](TimingClass.INT_MUL) for lanes in (8, 16)] == [Timing(7, 8), Timing(5, 4)]  # (4, 2)
    assert [timing[lanes](TimingClass.FP_MAD) for lanes in (8, 16)] == [Timing(8, 4), Timing(6, 2)]  # (5, 1)
    assert all(timing[8](other) == NARROW.timing_of(other) for other in (TimingClass.SFU, TimingClass.MEM))


def test_front_ends_and_memories():
    slow, warm = ALL[name(Affine.ABM, 16, "slow")], ALL[name(Affine.ABM, 16, memory="warm")]
    assert (slow.front_end_interval, slow.memory_latency, slow.memory_interval) == (2, 220, 4)
    assert (warm.front_end_interval, warm.memory_latency, warm.memory_interval) == (1, 1, 1)


def test_other_mechanisms():
    found = {key: (c.coalescing, c.gating, c.bypass) for key, c in ALL.items() if not key[0].isdigit()}
    off = Coalescing.OFF, Gating.OFF, Bypass.OFF
    for affine_unit in ("off", "abm"):
        assert found.pop(f"coalescing_{affine_unit}") == (Coalescing.ON, *off[1:])
        assert found.pop(f"cross_lane_{affine_unit}") == (off[0], Gating.CROSS_LANE, off[2])
        assert found.pop(f"bow_hints_{affine_unit}") == (*off[:2], Bypass.BOW_HINTS)
        assert found.pop(f"together_{affine_unit}") == (Coalescing.ON, Gating.CROSS_LANE, Bypass.BOW_HINTS)
    assert not found


def test_mechanisms_of_the_preset_do_not_matter():
    config = NARROW.with_settings(["coalescing=on", "alignment=write", "gating=active", "affine=a",
                                  "front_end_interval=3"])
    assert affine.configurations(config) == ALL


# ------------------------------------------------------------------ figures

COUNTS = {"attempts": 30, "accepted": 24, "refused": 6, "suppressed": 8, "expansions": 5, "compares": 10,
          "resolved": 7, "loads": 20, "affine_loads": 15, "vector_requests": 12}
BEFORE = run(ALL[BASELINE], ipc=0.5, warp_instructions=100, bank_reads=[50, 50], bank_writes=[30, 10],
             bank_accesses=140, column_reads=600, column_writes=400)
AFTER = run(ALL[FULL], ipc=0.6, warp_instructions=100, affine=COUNTS, bank_reads=[30, 40], bank_writes=[10, 20],
            bank_accesses=100, column_reads=500, column_writes=100)
FOUND = Structure(instructions=100, long_latency=20, control=5, memory=30, diverged=9, load_addresses=[1, 2, 5],
                  able=[30, 10, 50], active=[0, 8, *[0] * 15, 22, *[0] * 14, 60])


def figure(number: str, note: str = "") -> Figure:
    return next(f for f in affine.figures() if f.number == f"Affine, {number}" and f.note == note)


def measured(number: str, special: dict[str, Run], note: str = "") -> Measured:
    """A figure of runs that are `special` in some configurations and the same in all others."""
    runs = {key: special.get(key, run(config, ipc=1.0, bank_accesses=100, column_reads=100, affine=COUNTS))
            for key, config in ALL.items()}
    return figure(number, note).measure({"k": runs})


def averages(found: Measured) -> dict[str, float]:
    return {key: found.average(key) for key in found.values}


def test_table_1():
    runs = {**dict.fromkeys(ALL, BEFORE), BASELINE: replace(BEFORE, structure=FOUND), FULL: AFTER}
    rows = {key: (value, seed) for key, value, seed in table.rows({"k": runs})}
    assert {key: pytest.approx(value) for key, (value, _) in rows.items()} == {
        "instructions, thousands": 0.1, "active threads": (8 + 17 * 22 + 32 * 60) / 90, "issue": 0.5,
        "long latency": 20, "control": 5, "memory": 30, "divergent": 10, "issue, abm": 0.6,
        "affine": 24, "suppressed": 25, "refused": 20, "expansions": 5, "reads saved": 30, "writes saved": 25,
        "branches": 70, "loads": 75, "vector loads": 60,
    }
    assert rows["affine"][1] == "5.0 to 98.0" and rows["refused"][1] == "-"
    assert averages(measured("Table 1", runs, "execution")) == {
        "affine": 24, "suppressed": 25, "refused": 20, "expansions": 5}


def test_each_number_of_executing_lanes_is_in_a_class():
    one_each = Structure(active=[0, *[1] * 32])
    found = averages(measured("Fig. 2", {BASELINE: replace(BEFORE, structure=one_each)}, "threads"))
    assert {key: 32 * value / 100 for key, value in found.items()} == {
        "1 to 8": 8, "9 to 16": 8, "17 to 24": 8, "25 to 31": 7, "32": 1}


def test_structure_makes_bars():
    off = {BASELINE: replace(BEFORE, structure=FOUND)}
    assert averages(measured("Fig. 2", off, "load addresses")) == {"uniform": 25, "strided": 62.5, "indexed": 12.5}
    assert sum(averages(measured("Fig. 2", off, "whole instructions")).values()) == pytest.approx(100)
    shares = averages(measured("Fig. 2", off, "threads"))
    assert shares == {"1 to 8": pytest.approx(80 / 9), "9 to 16": 0, "17 to 24": pytest.approx(220 / 9), "25 to 31": 0,
                      "32": pytest.approx(600 / 9)}


def test_speed_ups_are_over_the_same_sm():
    faster = {key: run(ALL[key], ipc=1.2) for key in ("8_slow_cold_abm", "16_fast_warm_abm", "32_fast_warm_off")}
    cold, warm = averages(measured("Fig. 5", faster)), averages(measured("Fig. 6", faster))
    assert cold.pop("8 lanes, slow") == pytest.approx(20) and set(cold.values()) == {0}
    assert warm.pop("16 lanes, fast") == pytest.approx(20)
    assert warm.pop("32 lanes, fast") == pytest.approx(100 * (1 / 1.2 - 1)) and set(warm.values()) == {0}


def test_parts_are_over_the_same_sm():
    faster = {"8_fast_cold_ab": run(ALL["8_fast_cold_ab"], ipc=1.1), "32_fast_cold_off": run(NARROW, ipc=0.5)}
    assert averages(measured("By part", faster, "8 lanes")) == {"a": 0, "ab": pytest.approx(10), "abm": 0}
    assert averages(measured("By part", faster, "32 lanes")) == {"a": 100, "ab": 100, "abm": 100}


def test_composition_is_over_the_plain_sm():
    fewer = {composed("coalescing", Affine.OFF): run(NARROW, bank_accesses=90),
             composed("coalescing", Affine.ABM): run(NARROW, bank_accesses=60), FULL: run(NARROW, bank_accesses=70),
             composed("together", Affine.ABM): run(NARROW, column_reads=20, column_writes=5)}
    assert averages(measured("Composition", fewer, "accesses")) == pytest.approx({
        "affine": 30, "coalescing": 10, "coalescing and affine": 40, "bow_hints": 0, "bow_hints and affine": 0})
    columns = averages(measured("Composition", fewer, "columns"))
    assert columns["all three and affine"] == pytest.approx(75) and columns["all three"] == 0


def test_every_bar_has_a_colour_of_its_own():
    assert all(len(figure.bars) <= len(COLOURS) for figure in affine.figures())


# ------------------------------------------------------------------ hardware


def test_storage():
    """1,024 warp registers of 1,024 bits; for each 48 bits in each copy, and a flip-flop."""
    found = {need.what: need.ours for need in affine_overheads(NARROW)}
    assert found["values, one copy"] == 6 * 1024 and found["values, a copy for each source, SRAM"] == 18 * 1024
    assert found["tags, flip-flops"] == 1024 / 8 == table_bits(replace(NARROW, affine=Affine.ABM)) / 8
    assert found["tags, read ports of a set"] == 3
    assert found["one copy and tags, of the register file"] == pytest.approx(100 * 49 / 1024)
    assert found["all copies and tags"] == pytest.approx(100 * 145 / 1024)
    pairs = {need.what: need.ours for need in affine_overheads(NARROW.with_settings(["issue_per_warp=2"]))}
    assert {what for what in found if found[what] != pairs[what]} == {"tags, read ports of a set"}
    assert pairs["tags, read ports of a set"] == 6


def test_the_affine_unit_is_synthesised_without_other_mechanisms(monkeypatch):
    made = []
    monkeypatch.setattr(hardware, "compare", lambda before, after: [before, after])
    monkeypatch.setattr(hardware, "synthesise", lambda config: made.append(config) or config.affine)
    config = NARROW.with_settings(["coalescing=on", "gating=active", "affine=ab"])
    assert hardware.without_and_with_affine(config) == [Affine.OFF, Affine.ABM]
    assert made == [NARROW, replace(NARROW, affine=Affine.ABM)]


# ------------------------------------------------------------------ the command


@pytest.mark.long
def test_the_command_draws_prints_and_writes_every_figure(evaluated):
    text, document = evaluated("affine", "fermi", affine.figures(), ALL)
    assert "Table 1" in text and "5.0 to 98.0" in text
    assert document["table_1"].keys() == table.COLUMNS.keys()
    assert document["table_1"]["affine"]["vector_add"] > 30
    assert document["table_1"]["suppressed"]["vector_add"] < 10
    counts = document["runs"]["vector_add"]
    assert counts[FULL]["affine"]["affine_loads"] > 0.9 * counts[FULL]["affine"]["loads"]
    assert counts[FULL]["bank_accesses"] < counts[BASELINE]["bank_accesses"]
    assert counts[name(Affine.OFF, memory="warm")]["cycles"] < counts[BASELINE]["cycles"]
    assert counts[name(Affine.OFF, 8)]["cycles"] > counts[BASELINE]["cycles"]
