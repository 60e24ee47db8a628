"""The evaluation of bypassing: counts in traces, energies by hand, figures, and the command."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from support.golden_traces import trace_of
from support.runs import run

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.mechanisms import Bypass, Coalescing, Gating, Transient
from warploom.arch.modifiers import Vote
from warploom.compiler.writeback_hints import Destination, annotate
from warploom.evaluation.bypassing import experiment as bypassing
from warploom.evaluation.bypassing import source_energy
from warploom.evaluation.bypassing.bars import name
from warploom.evaluation.bypassing.events import Events, cache_rows, events
from warploom.evaluation.energy.assumptions import FIGURES
from warploom.evaluation.energy.costs import Costs
from warploom.evaluation.figures import Figure, Measured, Run
from warploom.evaluation.register_file_energy import register_file
from warploom.evaluation.traces.reuse import WINDOWS, Reuse, most_live, reuse
from warploom.evaluation.traces.toggling import Toggling, names
from warploom.synth.sram import Macro

PASCAL = SmConfig.preset("pascal")
ALL = bypassing.configurations(PASCAL, ())
OFF, RFC, BOW, HINTS, SIX = (ALL[key] for key in ("off", "rfc_3_6", "bow_3_12", "bow_hints_3_12", "bow_hints_3_6"))
HALF = 0xFFFF


# ------------------------------------------------------------------ windows over traces


def move(register: int) -> Instruction:
    return Instruction(op=Op.MOV, dst=register, imm_slot=0, imm=1)


def read(register: int) -> Instruction:
    return Instruction(op=Op.ISETP, pdst=1, src=(register, 255, 255))


def found(code: Sequence[Instruction], lanes: Sequence[int] | None = None) -> Reuse:
    return reuse(trace_of(code, lanes=lanes))


def windows(value: int, windows: Sequence[int]) -> list[int]:
    """`value` in some windows, 0 in the others."""
    return [value if window in windows else 0 for window in WINDOWS]


@pytest.mark.parametrize("distance", range(1, 9))
def test_a_register_stays_for_one_instruction_less_than_the_window(distance: int) -> None:
    between = [read(9 + number) for number in range(distance - 1)]  # nothing there was read before
    counts = found([move(0), *between, read(0)])
    assert counts.bypassed == windows(1, [window for window in WINDOWS if window > distance])
    assert (counts.reads, counts.writes) == (distance, 1)


def test_each_use_renews_the_stay() -> None:
    assert found([move(0), read(0), read(9), read(0), read(8), read(0)]).bypassed[:2] == [1, 3]


def test_a_register_read_twice_by_an_instruction_is_one_read() -> None:
    counts = found([move(0), Instruction(op=Op.IADD, dst=1, src=(0, 0, 255))])
    assert (counts.reads, counts.writes, counts.bypassed[0]) == (1, 2, 1)


def test_control_does_not_count() -> None:
    control = [Instruction(op=Op.NOP), Instruction(op=Op.BAR)] * 5
    assert found([move(0), *control, read(0)]).bypassed == windows(1, WINDOWS)


def test_a_read_makes_no_other_lanes_valid() -> None:
    """Half of the lanes are written and read; then all are needed, of which the others must be fetched: the next read
    finds them."""
    code, some = [move(0), read(0), read(0), read(0)], [HALF, HALF, 0xFFFFFFFF, 0xFFFFFFFF]
    assert found(code, some).bypassed == windows(2, WINDOWS)


def test_what_a_barrier_writes_counts() -> None:
    assert found([Instruction(op=Op.BARRED, dst=1, vote=Vote.POPC), read(1)]).bypassed == windows(1, WINDOWS)


def test_launches_of_a_kernel_add_up() -> None:
    trace = trace_of([move(0), read(0)])
    once, twice = reuse(trace), reuse(trace, trace)
    assert twice.classes == {place: 2 * count for place, count in once.classes.items()} and sum(once.classes.values())
    assert (twice.reads, twice.writes) == (2, 2)


def test_registers_are_those_of_the_kernel_that_accesses_most() -> None:
    reading, writing = trace_of([read(0)] * 2, registers=32), trace_of([move(0)] * 3, registers=8)
    assert reuse(reading, writing).registers == 8
    small, large = trace_of([move(0)], registers=32), trace_of([move(0), read(0), read(0)], registers=8)
    assert [reuse(*traces).registers for traces in ((small, large), (large, small))] == [8, 8]
    assert reuse(small, large).reads == 2 and reuse(small, large).writes == 2


def test_an_instruction_that_no_lane_executes_does_not_count() -> None:
    assert found([move(0), read(5), read(0)], [0xF, 0, 0xF]).bypassed == windows(1, WINDOWS)


def test_all_executing_lanes_must_be_there() -> None:
    code = [move(0), read(0), read(0)]
    assert found(code, [HALF, HALF, 1]).bypassed[0] == 2
    assert found(code, [HALF, ~HALF & 0xFFFFFFFF, HALF]).bypassed[0] == 1  # the second one reads the rest
    assert found([read(0), read(0)], [HALF, ~HALF & 0xFFFFFFFF]).bypassed[0] == 1  # the first one reads all


def test_values_that_are_overwritten_in_the_window_are_not_written() -> None:
    """Only the last of three writes leaves the window, and with a window of 2 the second one too."""
    code = [move(0), move(0), read(9), move(0), *(read(register) for register in range(1, 8))]
    assert found(code).written == [2, 1, 1, 1, 1, 1]
    assert found(code).needed == windows(0, WINDOWS)  # none is read


def test_values_that_are_read_later_are_needed() -> None:
    code = [move(0), read(9), read(8), read(7), read(0), read(0), *(read(register) for register in range(1, 8))]
    assert found(code).written == windows(1, WINDOWS)
    assert found(code).needed == windows(1, [2, 3, 4])


def test_a_value_that_ends_with_its_warp_is_not_written() -> None:
    assert found([read(5), move(0)]).written == windows(0, WINDOWS)
    assert found([move(0), read(5), read(5)]).written == windows(1, [2, 3])


def test_lanes_that_others_do_not_overwrite_are_written() -> None:
    later = [read(register) for register in range(1, 8)]
    code = [move(0), read(9), read(8), read(7), read(6), read(5), read(4), read(3), move(0), *later, read(0)]
    lanes = [0xFFFFFFFF] * len(code)
    lanes[8] = HALF
    counts = found(code, lanes)
    assert counts.written == windows(2, WINDOWS)
    assert counts.needed == windows(2, WINDOWS)  # both, by one read that finds neither in the window


def test_a_value_is_needed_once_however_many_lanes_read_it_apart() -> None:
    away = [read(register) for register in range(1, 8)]
    sides = [HALF, ~HALF & 0xFFFFFFFF]
    counts = found([move(0), *away, read(0), *away, read(0)], [0xFFFFFFFF] * 8 + sides[:1] * 8 + sides[1:])
    assert counts.written == counts.needed == windows(1, WINDOWS)


def test_lanes_that_are_overwritten_do_not_need_what_they_had() -> None:
    away = [read(register) for register in range(1, 8)]
    code = [move(0), *away, move(0), *away, read(0)]
    lanes = [0xFFFFFFFF] * len(code)
    lanes[8] = lanes[-1] = HALF
    assert found(code, lanes).needed == windows(1, WINDOWS)  # the second one: the lanes of the first are not read


def test_classes_are_those_of_the_hints_each_time_that_they_execute() -> None:
    far = [read(register) for register in (20, 21, 22)]
    code = [move(0), *far, read(0), move(1), read(1), *far, read(1), move(2), read(2)]
    counts = reuse(trace_of(code, warps=3, registers=32))
    assert counts.classes == {Destination.FILE: 3, Destination.BOTH: 3, Destination.COLLECTOR: 3}
    assert counts.registers == 32 and counts.transient[1] == 1


def test_registers_of_values_that_need_no_place() -> None:
    """Three values are live at once; with a window of 2 only R2 needs no row, with 4 also R1. A guarded write does not
    end a value."""
    code = [move(0), move(1), move(2), read(2), read(1), read(0), Instruction(op=Op.EXIT)]
    assert most_live(code) == 3
    program = trace_of(code).program
    assert [most_live(annotate(program, window).instructions) for window in (2, 4, 6)] == [2, 1, 0]
    guarded = [move(0), replace(move(0), guard=0, to_file=False), read(0), Instruction(op=Op.EXIT)]
    assert most_live(guarded) == 1
    assert most_live([guarded[0], replace(guarded[1], guard=7), *guarded[2:]]) == 0


# ------------------------------------------------------------------ energy

BASE = run(OFF, bank_reads=[60], bank_writes=[40], operands_stored=60)
WINDOW = {"forwarded": 40, "fetched": 20, "delivered": 30, "filed": 5, "both": 5, "slid": 8, "crowded": 2}
OURS = run(HINTS, bank_reads=[20], bank_writes=[20], bypassed=WINDOW)
CACHED = run(RFC, bank_reads=[15], bank_writes=[5], operands_stored=60,
             bypassed={"cache_reads": 45, "cache_writes": 40, "split_operands": 0})


def test_events_of_a_bypassing_collector() -> None:
    """Written: fetched or delivered words. Read: operands and evictions. The network: delivered and evicted words."""
    assert events(OURS) == Events(40, 0, 0, 20 + 35, 60 + 10, 10, 35 + 10)


def test_events_of_the_others() -> None:
    assert events(BASE) == Events(100, 0, 0, 60, 60, 0, 0)
    assert events(CACHED) == Events(20, 45, 40, 60, 60, 0, 0)


FULL, SECTION_II, LEAST = source_energy.BY_TABLE_IV.values()


def test_table_iv() -> None:
    spent = (55 + 70) * 2.72 + 45 * 2.08
    assert FULL.overhead_pj(OURS) == LEAST.overhead_pj(OURS) == pytest.approx(spent)
    assert FULL.overhead_pj(BASE) == 0
    assert FULL.saved(OURS, BASE) == pytest.approx(60 - spent / 185.26)
    assert FULL.overhead(OURS, BASE) == pytest.approx(spent / 185.26)
    assert SECTION_II.saved(OURS, BASE) == pytest.approx(60 - spent / (185.26 / math.sqrt(8)))


def test_both_rules_for_other_capacities_meet_table_iv() -> None:
    assert FULL.bank_pj == pytest.approx(185.26)
    assert LEAST.array_pj(65536) == pytest.approx(185.26) and LEAST.array_pj(1536) == pytest.approx(2.72)
    assert pytest.approx(65.5, abs=0.1) == SECTION_II.bank_pj
    assert pytest.approx(17.9, abs=0.1) == LEAST.bank_pj and LEAST.bank_bytes == SECTION_II.bank_bytes == 8192


def test_half_of_the_entries_take_less() -> None:
    ratio = (FULL.overhead_pj(run(SIX, bypassed=WINDOW)) - 45 * 2.08) / (125 * 2.72)
    assert ratio == pytest.approx(math.sqrt(0.5))


def test_the_cache_has_small_banks() -> None:
    assert cache_rows(RFC) * 128 * 32 == 24 * 1024  # the source's 24 KB
    assert FULL.overhead_pj(CACHED) == pytest.approx(85 * 185.26 * math.sqrt(768 / 65536))
    costs = Costs(RFC, 0.5)
    read = register_file(run(RFC, bypassed={"cache_reads": 1, "cache_writes": 0})).added["cache"]
    assert read == pytest.approx(4 * Macro(6, 256).energy_pj + 1024 * (costs.wire + costs.selection(RFC.banks)))
    written = register_file(run(RFC, bypassed={"cache_reads": 0, "cache_writes": 1})).added["cache"]
    paths = costs.selection(len(RFC.write_paths))
    assert written == pytest.approx(4 * Macro(6, 256).energy_pj + 1024 * (costs.wire + paths))


def test_a_bank_of_the_cache_has_whole_rows() -> None:
    """28 warps with 6 entries in 32 banks: 5.25 rows."""
    few = RFC.with_settings(["warps=28"])
    found = register_file(run(few, bypassed={"cache_reads": 1, "cache_writes": 0})).added["cache"]
    costs = Costs(few, 0.5)
    assert cache_rows(few) == 5.25
    assert found == pytest.approx(4 * Macro(6, 256).energy_pj + 1024 * (costs.wire + costs.selection(RFC.banks)))


def test_what_windows_add() -> None:
    """By our costs: words are selected from twelve entries, evictions also from all collectors; delivered ones cross
    the register file once more."""
    costs, logic = Costs(HINTS, 0.5), FIGURES["logic"]["windows"]
    nothing = dict.fromkeys(WINDOW, 0)
    delivered = register_file(run(HINTS, bypassed={**nothing, "delivered": 1})).added
    evicted = register_file(run(HINTS, bypassed={**nothing, "slid": 1})).added
    crossed = costs.wire + costs.selection(len(HINTS.write_paths))
    assert delivered == pytest.approx({"window network": 1024 * crossed, "window logic": 0})
    left = costs.selection(12) + costs.selection(HINTS.collectors) + costs.flip_flop
    assert evicted == pytest.approx({"window network": 1024 * left,
                                     "window logic": costs.logic(logic["eviction"])})
    taken = register_file(run(HINTS, bypassed={**nothing, "forwarded": 1}, datapath_instructions=1)).added
    assert taken == pytest.approx({"window network": 1024 * costs.selection(12),
                                   "window logic": costs.logic(logic["instruction"])})


@pytest.mark.parametrize("settings", [
    [], ["coalescing=on"], ["coalescing=on", "alignment=write"], ["gating=cross_lane"]])
def test_words_to_windows_are_whole_in_any_stored_form(settings: list[str]) -> None:
    """More of the bits toggle that coalescing and gating move; on the wires to windows all of them move."""
    counted = Toggling(dict.fromkeys(names(), 4), {name: 1 if name == "whole_off" else 3 for name in names()})
    delivered = run(HINTS.with_settings(settings), bypassed={**dict.fromkeys(WINDOW, 0), "delivered": 1})
    found = register_file(replace(delivered, toggling=counted)).added["window network"]
    costs = Costs(HINTS, 0.25)
    assert found == pytest.approx(1024 * (costs.wire + costs.selection(len(HINTS.write_paths))))
    evicted = replace(delivered, statistics=run(HINTS, bypassed={**dict.fromkeys(WINDOW, 0), "slid": 1}).statistics)
    loaded = register_file(replace(evicted, toggling=counted)).added["window network"]
    assert loaded == pytest.approx(1024 * (costs.selection(12) + costs.selection(HINTS.collectors) + costs.flip_flop))


# ------------------------------------------------------------------ figures


def test_configurations() -> None:
    assert len(ALL) == 18
    assert all(config.entries == 4 * config.window for key, config in ALL.items() if key.startswith("bow_hints_7"))
    assert {key for key, config in ALL.items() if config.name == "fermi"} == {
        key for key in ALL if key.startswith("scarce_")}
    assert ALL["scarce_off"].collectors == 4 and ALL["scarce_bow_3_12"].collectors == 48
    assert (ALL["scarce_many"].bypass, ALL["scarce_many"].collectors) == (Bypass.OFF, 48)
    assert (RFC.bypass, RFC.entries, SIX.entries, BOW.entries) == (Bypass.RFC, 6, 6, 12)


def test_other_mechanisms_do_not_matter() -> None:
    config = PASCAL.with_settings(["coalescing=on", "alignment=write", "gating=active", "bypass=bow", "entries=5"])
    assert {(c.coalescing, c.gating) for c in bypassing.configurations(config, ()).values()} == {
        (Coalescing.OFF, Gating.OFF)}
    transient = PASCAL.with_settings(["bypass=bow_hints", "transient=on"])
    assert {c.transient for c in bypassing.configurations(transient, ()).values()} == {Transient.OFF}


def figure(number: str, note: str = "") -> Figure:
    return next(f for f in bypassing.figures() if f.number == f"BOW, {number}" and f.note == note)


def measured(number: str, special: dict[str, Run], note: str = "") -> Measured:
    """A figure of runs that are `special` in some configurations and the same in all others."""
    runs = {key: special.get(key, run(config, ipc=1.0, bank_reads=[100], bypassed={"occupancy": [0, 1]}))
            for key, config in ALL.items()}
    return figure(number, note).measure({"k": runs})


def test_ipc_is_against_the_baseline_of_the_same_sm() -> None:
    faster = {key: run(ALL[key], ipc=1.2) for key in ("bow_3_12", "scarce_bow_3_12", "bow_hints_5_20")}
    assert measured("Fig. 10", faster).average("bow") == pytest.approx(20)
    assert measured("Fig. 10", faster).average("bow_hints") == 0
    assert measured("Fig. 10, bow_hints", faster).average("5") == pytest.approx(20)
    assert measured("Scarce collectors", faster).average("bow") == pytest.approx(20)
    slower = {key: run(ALL[key], ipc=0.5) for key in ("scarce_off", "rfc_3_6")}
    assert measured("Scarce collectors", slower).average("only as many collectors") == pytest.approx(100)
    assert measured("Fig. 10", slower).average("bow") == 0 and measured("Fig. 10", slower).average("rfc") == -50


def test_half_of_the_entries_are_six() -> None:
    slower = {name(Bypass.BOW_HINTS, entries=6): run(SIX, ipc=0.9, bank_reads=[30], bypassed=WINDOW)}
    assert measured("Fig. 11", slower).average("6") == pytest.approx(-10)
    assert measured("Fig. 10", slower).average("half of the entries") == pytest.approx(-10)
    assert measured("Accesses", slower, "reads").average("half of the entries") == pytest.approx(70)


def test_time_in_collectors() -> None:
    times = {"off": run(OFF, collecting={"memory": 10, "other": 30}, living={"memory": 100, "other": 60}),
             "bow_3_12": run(BOW, collecting={"memory": 5, "other": 5})}
    shares = measured("Fig. 4", times)
    assert [shares.average(key) for key in ("all", "other", "memory")] == pytest.approx([25, 50, 10])
    assert measured("Fig. 12, bow", times).average("3") == pytest.approx(75)


def test_occupancy_is_of_collectors_that_hold_anything() -> None:
    full = {"bow_3_12": run(BOW, bypassed={"occupancy": [1000, 50, 0, 0, 0, 0, 20, 20, 10]})}
    assert measured("Fig. 9", full).average("bow") == pytest.approx(30)


def test_sources_are_of_all_instructions() -> None:
    counts = {"off": run(OFF, warp_instructions=100, datapath_instructions=80, operands=[10, 30, 35, 5])}
    shares = measured("Fig. 8", counts)
    assert [shares.average(str(number)) for number in range(4)] == pytest.approx([30, 30, 35, 5])


def test_what_traces_tell_makes_bars() -> None:
    known = Reuse(reads=200, writes=100, bypassed=[90, 118, 0, 0, 0, 150], written=[80, 60, 0, 0, 0, 0],
                  needed=[65, 48, 0, 0, 0, 0], classes={place: n for n, place in enumerate(Destination, start=1)},
                  registers=10, transient=[0, 2, 3, 3, 3, 3], live=8, kept=[7, 6, 5, 4, 3, 2],
                  rows=[10, 8, 7, 6, 5, 5])
    off = {"off": Run(OFF, run(OFF).statistics, run(OFF).values, known)}
    assert [measured("Fig. 3, reads", off).average(key) for key in ("2", "3", "7")] == pytest.approx([45, 59, 75])
    assert measured("Fig. 3, writes", off, "overwritten").average("3") == pytest.approx(40)
    assert measured("Fig. 3, writes", off, "or never read again").average("2") == pytest.approx(35)
    assert sum(measured("Fig. 7", off).average(place) for place in Destination) == pytest.approx(100)
    assert bypassing.transient({"k": off}) == [("k", 10, 8, 7, 6, 5, 4, 3, 2, 25.0, 2)]
    few = {"off": replace(off["off"], machine=replace(OFF, layout="wid", banks=4, rows=64, warps=28))}
    row, average = bypassing.occupancy({"k": few}, {"average": ("k",)})
    assert row == ("k", 10, 10, 8, 7, 6, 5, 5, pytest.approx(20.0), 24, 28, 24, 32)
    assert average == ("average", *(round(number, 1) for number in row[1:]))
    both = {**off, "scarce_off": few["off"]}
    assert bypassing.occupancy({"k": both}, {"average": ("k",)}, "scarce_")[0] == row


def test_every_published_bar_is_one_of_ours() -> None:
    from warploom.evaluation.published import published

    drawn = {figure.number: set(figure.bars) for figure in bypassing.figures()}
    ours = {number: bars for number, bars in published().items() if number.startswith("BOW")}
    assert ours.keys() < drawn.keys()
    assert all(bars.keys() <= drawn[number] for number, bars in ours.items())


# ------------------------------------------------------------------ the command


@pytest.mark.long
def test_the_command_draws_prints_and_writes_every_figure(evaluated):
    text, document = evaluated("bypassing", "pascal", bypassing.figures(), ALL)
    assert document["transient"][0]["kernel"] == "vector_add" and "need a row of the register file" in text
    assert [rows[-1]["kernel"] for rows in document["occupancy"].values()] == ["named workloads"] * 2
    counts = document["runs"]["vector_add"]
    assert sum(counts["bow_3_12"]["bank_reads"]) < sum(counts["off"]["bank_reads"])
    assert sum(counts["bow_hints_3_12"]["bank_writes"]) < sum(counts["bow_3_12"]["bank_writes"])
