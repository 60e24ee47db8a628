"""The evaluation of gating: counts in traces, energies by hand, figures, and the command."""

import dataclasses

import numpy as np
import pytest
from support.runs import run

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.mechanisms import Alignment, Coalescing, Gating
from warploom.arch.program import Program
from warploom.evaluation.energy.assumptions import ASSUMED, FIGURES
from warploom.evaluation.energy.costs import Costs
from warploom.evaluation.gating import experiment as gating
from warploom.evaluation.gating import lanes as gating_lanes
from warploom.evaluation.gating.energy import APART, PARTS, REPEATED, SHARED, WHOLE
from warploom.evaluation.hardware.overhead import gating_overheads, zero_buffer
from warploom.evaluation.register_file_energy import macros_saved, register_file, register_file_saved
from warploom.golden_model.trace import NONE, Trace, WarpTrace
from warploom.golden_model.values import Values, values
from warploom.synth.sram import Macro

MAXWELL = SmConfig.preset("maxwell")
FOUR = gating.configurations(MAXWELL, ())
OFF, ACTIVE, IN_LANE, CROSS_LANE = (FOUR[f"bytes_{setting}"] for setting in Gating)
COSTS = Costs(MAXWELL, 0.5)


# ------------------------------------------------------------------ values of threads

CODE = (
    Instruction(op=Op.MOV, dst=1, src=(255, 255, 255)),
    Instruction(op=Op.IADD, dst=2, src=(1, 1, 255)),
    Instruction(op=Op.ST, src=(1, 2, 255)),
    Instruction(op=Op.BRA),
    Instruction(op=Op.EXIT),
)


def trace(lanes, results):
    """A warp that executes `CODE` once, each instruction in some lanes; a row of results for each that writes."""
    rows = np.array([[value] * 32 for value in results], np.uint32)
    none = np.full(len(CODE), NONE, np.int32)
    result = none.copy()
    result[: len(results)] = range(len(results))
    warp = WarpTrace(0, 0, 0xFFFFFFFF, np.arange(len(CODE), dtype=np.int32), np.array(lanes, np.uint32),
                     np.zeros(len(CODE), np.uint32), np.zeros(len(CODE), np.uint32), result, none)
    return Trace(Program("k", "k.ptx", CODE, (0,) * len(CODE), 3), None, (warp,), rows, rows[:0], rows[:0])


def test_threads_are_counted_where_instructions_enter_the_datapath():
    found = values(trace([0xFFFFFFFF, 0xF, 0x1, 0xFF, 0], [0, 256]))
    assert (found.inactive, found.writing, found.silent) == (28 + 31, 32 + 4, 1)  # neither the branch nor the exit
    assert (found.reading, found.zero_operand) == (4 + 1, 4 + 1)  # the move reads nothing; both others find R1 zero
    assert found.operands == [4 + 1, 0, 1, 0, 0]  # R1 of the addition once; R1 and R2 of the store
    assert found.results == [32, 0, 4, 0, 0]


def test_a_barrier_with_a_result_enters_the_datapath():
    of_move = trace([0xFFFFFFFF, 0, 0, 0, 0], [7, 0])
    counting = Instruction(op=Op.BARRED, dst=1)
    found = values(dataclasses.replace(of_move, program=dataclasses.replace(
        of_move.program, instructions=(counting, *CODE[1:]))))
    assert (found.writing, found.silent, found.results) == (32, 0, [0, 32, 0, 0, 0])


def test_an_instruction_that_no_lane_executes_does_not_count():
    assert values(trace([0] * 5, [0, 0])) == Values()


@pytest.mark.parametrize(("value", "size"), [
    (0, 0), (1, 1), (0xFF, 1), (0x100, 2), (0xFFFF, 2), (0x10000, 3), (0xFFFFFF, 3), (0x1000000, 4), (0xFFFFFFFF, 4),
])
def test_bytes_of_a_value_are_those_below_its_leading_zeros(value, size):
    assert values(trace([1, 0, 0, 0, 0], [value])).results.index(1) == size


def test_a_register_keeps_what_other_lanes_have_written():
    """R1 is written in lane 0 only: its other lanes are still zero."""
    found = values(trace([0x1, 0x3, 0, 0, 0], [5, 5]))
    assert found.operands == [1, 1, 0, 0, 0]
    assert found.zero_operand == 1


# ------------------------------------------------------------------ energy

READS = {"sub_bank_reads": 10, "column_reads": 80}
FEWER = {"sub_bank_reads": 10, "column_reads": 20}


def macros(organisation, config=ACTIVE, **fields):
    """Energy of the SRAM in accesses to a sub-bank."""
    return register_file(run(config, **fields), organisation).macros / COSTS.sub_bank


@pytest.mark.parametrize("organisation", [SHARED, APART, REPEATED, WHOLE])
def test_without_gating_a_sub_bank_is_one_macro(organisation):
    assert macros(organisation, OFF, **READS) == pytest.approx(10)
    assert macros(organisation, OFF, sub_bank_writes=10, column_writes=80) == pytest.approx(10)


@pytest.mark.parametrize(("organisation", "cost"), [(SHARED, 10), (APART, 10), (REPEATED, 24), (WHOLE, 10)])
def test_all_columns_cost_a_whole_sub_bank_unless_decoders_repeat(organisation, cost):
    assert macros(organisation, **READS) == pytest.approx(cost)
    assert macros(organisation, sub_bank_writes=10, column_writes=80) == pytest.approx(cost)


@pytest.mark.parametrize(("organisation", "read", "written"), [
    (SHARED, 0.2 * 10 + 0.8 * 2.5, 0.2 * 10 + 0.8 * 2.5), (APART, 2.5, 2.5),
    (REPEATED, 0.2 * 20 + 0.8 * 2.5, 0.2 * 20 + 0.8 * 2.5), (WHOLE, 10, 0.2 * 10 + 0.8 * 2.5),
])
def test_a_quarter_of_the_columns(organisation, read, written):
    assert macros(organisation, **FEWER) == pytest.approx(read)
    assert macros(organisation, sub_bank_writes=10, column_writes=20) == pytest.approx(written)


def test_where_columns_are_read_whole_their_wires_move_too():
    assert register_file(run(ACTIVE, **FEWER), SHARED).wires == pytest.approx(20 * 32 * COSTS.wire)
    assert register_file(run(ACTIVE, **FEWER), WHOLE).wires == pytest.approx(80 * 32 * COSTS.wire)


def test_macros_alone_save_nothing_around_them():
    before, after = run(OFF, **READS, collector_columns=80), run(ACTIVE, **FEWER, collector_columns=20)
    macro, all_around = (getattr(register_file(before), part) for part in ("macros", "around"))
    assert macros_saved(after, before) == pytest.approx(100 * (1 - 0.4) * macro / (macro + all_around))
    assert register_file_saved(after, before, organisation=APART) == pytest.approx(75)


OPERANDS = {"operands": [0, 0, 1, 0], "destination_widths": [0, 0, 0, 1], "bank_writes": [1, 0, 0, 0],
            "datapath_instructions": 1}
"""An instruction that reads two registers and writes one."""


def added(config):
    return register_file(run(config, **OPERANDS)).added


def test_the_zero_buffer_is_looked_up_three_times_and_written_four_times():
    assert added(IN_LANE)["zero buffer"] == pytest.approx((3 + 4) * Macro(32, 32).energy_pj)
    assert added(CROSS_LANE)["zero buffer"] == pytest.approx((3 + 4) * Macro(32, 40).energy_pj)
    assert added(CROSS_LANE)["fields"] == pytest.approx(40 / 32 * added(IN_LANE)["fields"])
    assert added(IN_LANE)["fields"] == pytest.approx(32 * (2 * 4 + 5) * COSTS.flip_flop)


@pytest.mark.parametrize("setting", ["bytes_in_lane", "bytes_cross_lane", "threads_in_lane", "threads_cross_lane"])
def test_logic_is_passed_by_each_operand_and_by_each_result(setting):
    config = FOUR[setting]
    um2 = FIGURES["logic"]["gating"][config.gating][config.coalescing]
    assert added(config)["detector and switches"] == pytest.approx(COSTS.logic(2 * um2["operand"] + um2["result"]))


def test_with_windows_some_operands_are_not_fetched_and_some_results_not_written():
    """Two instructions: of four operands one is fetched, of two results one is written; two words are evicted."""
    bypassed = {"forwarded": 3, "fetched": 1, "delivered": 2, "filed": 0, "both": 0, "slid": 2, "crowded": 0}
    found = register_file(run(IN_LANE.with_settings(["bypass=bow_hints"]), operands=[0, 0, 2, 0],
                              destination_widths=[0, 2, 0, 0], bank_writes=[1, 0, 0, 0], datapath_instructions=2,
                              bypassed=bypassed)).added
    um2 = FIGURES["logic"]["gating"][Gating.IN_LANE]["off"]
    assert found["zero buffer"] == pytest.approx((4 + 2 + 4 * 1) * Macro(32, 32).energy_pj)
    assert found["detector and switches"] == pytest.approx(COSTS.logic(um2["operand"] + (2 + 2) * um2["result"]))
    assert found["fields"] == pytest.approx(32 * (2 * 2 * 4 + 2 * 5) * COSTS.flip_flop)


@pytest.mark.parametrize("config", [OFF, ACTIVE])
def test_without_a_zero_mask_there_is_no_overhead(config):
    assert added(config) == {}
    assert gating_lanes.overhead("all", run(config, **OPERANDS), run(OFF, **READS)) == 0
    assert gating_lanes.execution_overhead(run(config, lane_operations=64, lanes_inactive=16)) == 0


def test_overhead_is_what_gating_alone_adds():
    composed, before = run(FOUR["threads_cross_lane"], **OPERANDS), run(FOUR["threads_off"], **READS)
    parts = [gating_lanes.overhead(part, composed, before) for part in PARTS]
    assert gating_lanes.overhead("all", composed, before) == pytest.approx(sum(parts))
    assert sum(parts) < 100 * register_file(composed).overhead / register_file(before).total  # with the mask buffer


LANES = {"lane_operations": 64, "lanes_inactive": 16}


def test_lanes_that_do_not_compute_take_nothing_but_the_overhead():
    before = run(OFF, **LANES)
    assert gating_lanes.execution_saved(before, before) == 0
    assert gating_lanes.execution_saved(run(ACTIVE, **LANES), before) == pytest.approx(25)
    lane = FIGURES["lane"]
    overhead = (75 * lane["trivial_detector"] + 12.5 * lane["bypass"]) / lane["lane"]
    gated = run(CROSS_LANE, **LANES, lanes_trivial=8)
    assert gating_lanes.execution_saved(gated, before) == pytest.approx(25 + 12.5 - overhead)


def test_a_gpu_is_fifteen_parts_register_file_and_twenty_execution_units():
    before, after = run(OFF, **READS, **LANES), run(ACTIVE, **FEWER, **LANES)
    saved = gating_lanes.gpu_saved_by_register_file(after, before, organisation=APART)
    assert saved == pytest.approx(0.15 * 75)
    assert gating_lanes.gpu_saved_by_execution(after, before) == pytest.approx(0.20 * 25)
    assert gating_lanes.gpu_saved(after, before) == pytest.approx(0.15 * register_file_saved(after, before) + 0.20 * 25)


def test_a_gpu_is_estimated_by_the_assumptions_that_are_given():
    """Trivial operations take twice as much of a lane, wires nothing."""
    assumed = dataclasses.replace(ASSUMED, lane=2.0, wire_length=0.0)
    before, after = run(OFF, **READS, **LANES), run(CROSS_LANE, **FEWER, **LANES, lanes_trivial=8)
    lane = FIGURES["lane"]
    overhead = 2 * (75 * lane["trivial_detector"] + 12.5 * lane["bypass"]) / lane["lane"]
    file = register_file_saved(after, before, assumed)
    assert file != pytest.approx(register_file_saved(after, before))
    assert gating_lanes.gpu_saved(after, before, assumed) == pytest.approx(0.15 * file + 0.20 * (37.5 - overhead))


def test_the_overhead_of_a_gpu_is_that_of_both():
    before, gated = run(OFF, **READS, **LANES), run(CROSS_LANE, **OPERANDS, **LANES, lanes_trivial=8)
    file, lane = sum(added(CROSS_LANE).values()) / register_file(before).total, FIGURES["lane"]
    lanes = (0.75 * lane["trivial_detector"] + 0.125 * lane["bypass"]) / lane["lane"]
    assert gating_lanes.gpu_overhead(gated, before) == pytest.approx(100 * (0.15 * file + 0.20 * lanes))


# ------------------------------------------------------------------ figures


def test_configurations_are_the_nine_of_the_experiment():
    assert len(FOUR) == 9
    assert {name: (config.name, config.coalescing, config.gating) for name, config in FOUR.items()} == {
        **{f"bytes_{setting}": ("maxwell", Coalescing.OFF, setting) for setting in Gating},
        **{f"threads_{setting}": ("fermi", Coalescing.ON, setting) for setting in Gating},
        "uncoalesced": ("fermi", Coalescing.OFF, Gating.OFF),
    }


def test_the_alignment_is_that_of_the_coalescing_configurations():
    settings = ["coalescing=on", "alignment=write", "gating=active"]
    found = gating.configurations(MAXWELL.with_settings(settings), settings)
    assert found.keys() == FOUR.keys()
    assert {name for name, config in found.items() if config.alignment is Alignment.WRITE} == {
        f"threads_{setting}" for setting in Gating}
    assert {name: config.gating for name, config in found.items()} == {
        name: config.gating for name, config in FOUR.items()}


COUNTS = {Gating.OFF: 100, Gating.ACTIVE: 90, Gating.IN_LANE: 60, Gating.CROSS_LANE: 40}


def measured(number, **fields):
    """A figure of runs in which `fields`, named by setting, are counted."""
    by_setting = {setting: {name: count[setting] for name, count in fields.items()} for setting in Gating}
    runs = {name: run(config, **by_setting[config.gating]) for name, config in FOUR.items()}
    return next(figure for figure in gating.figures() if figure.number == number).measure({"k": runs})


@pytest.mark.parametrize(("number", "field"), [("Fig. 4.7", "column_reads"), ("Fig. 4.8", "column_writes")])
def test_bars_are_what_each_setting_saves_beyond_the_one_before(number, field):
    found = measured(number, **{field: COUNTS})
    assert {key: found.average(key) for key in found.values} == pytest.approx(
        {"inactive": 10, "in-lane zeros": 30, "cross-lane zeros": 20})


def test_trivial_operations_stand_on_inactive_lanes():
    found = measured("Fig. 4.10", lane_operations=dict.fromkeys(Gating, 100), lanes_inactive=dict.fromkeys(Gating, 10),
                     lanes_trivial={**dict.fromkeys(Gating, 0), Gating.CROSS_LANE: 20})
    assert found.average("inactive") == pytest.approx(10)
    assert 15 < found.average("trivial operations") < 20  # less its overhead


def test_both_chapters_are_measured_against_neither():
    """Coalescing halves the moved data; gating leaves 90, 60, 40 % of that."""
    runs = {name: run(config, column_writes=COUNTS[config.gating], sub_bank_writes=0) for name, config in FOUR.items()}
    runs["uncoalesced"] = run(FOUR["uncoalesced"], column_writes=200)
    found = next(figure for figure in gating.figures() if figure.number == "Both chapters").measure({"k": runs})
    assert {key: found.average(key) for key in found.values} == pytest.approx(
        {"coalescing": 50, "inactive": 5, "in-lane zeros": 15, "cross-lane zeros": 10})


def test_values_of_threads_make_shares():
    known = Values(20, 60, 20, 40, 10, [0] * 5, [10, 20, 30, 25, 15])
    runs = {"k": {name: run(config, known) for name, config in FOUR.items()}}
    found = {figure.number: figure.measure(runs) for figure in gating.figures() if figure.number.startswith("Fig. 4.1")}
    lanes, results = ({key: found[number].average(key) for key in found[number].values}
                      for number in ("Fig. 4.1a", "Fig. 4.1b"))
    assert lanes == {"inactive": 20, "active and writing": 60, "active, not writing": 20}
    assert results == {"zero": 10, "8 bits": 20, "16 bits": 30, "24 bits": 25, "32 bits": 15}
    assert found["Fig. 4.1, operands"].average("zero operand") == 25


# ------------------------------------------------------------------ storage


def test_zero_buffer_is_that_of_table_4_1():
    found = {need.what: need.ours for need in gating_overheads(CROSS_LANE)}
    assert found["zero buffer, one copy"] == 2560  # 2.5 KB: 512 registers of 32 + 8 bits
    assert found["zero buffer, all copies"] == 4 * 2560
    assert found["zero buffer, one copy, of the register file"] == pytest.approx(100 / 25.6)
    assert found["collector: active mask and entries of the sources"] == 152
    assert {need.what: need.ours for need in gating_overheads(IN_LANE)}["zero buffer, one copy"] == 2048  # 1/32


def test_with_pairs_there_are_twice_the_copies():
    pairs = {need.what: need.ours for need in gating_overheads(CROSS_LANE.with_settings(["issue_per_warp=2"]))}
    assert pairs["zero buffer, one copy"] == 2560 and pairs["zero buffer, all copies"] == 8 * 2560


def test_with_coalescing_each_side_of_a_bank_and_port_has_a_zero_buffer():
    composed = FOUR["threads_cross_lane"]
    assert zero_buffer(composed) == (153, 32)
    assert {need.what: need.ours for need in gating_overheads(composed)}["zero buffer, one copy"] == 2 * 4 * 2 * 153 * 4


# ------------------------------------------------------------------ the command


@pytest.mark.long
def test_the_command_draws_prints_and_writes_every_figure(evaluated):
    text, document = evaluated("gating", "maxwell", gating.figures(), FOUR)
    assert "152" in text
    cycles = {name: counts["cycles"] for name, counts in document["runs"]["vector_add"].items()}
    assert len({cycles[f"bytes_{setting}"] for setting in Gating}) == 1  # gating changes no cycle
    assert len({cycles[f"threads_{setting}"] for setting in Gating}) == 1
