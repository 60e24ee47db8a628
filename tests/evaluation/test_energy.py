"""Energy: the cost of each event by hand, the parts of a register file, and the assumptions over their ranges."""

import dataclasses
import math

import numpy as np
import pytest
from support.runs import run

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.gpu import GpuConfig
from warploom.arch.mechanisms import Affine, Alignment, Bypass, Coalescing, Gating
from warploom.evaluation import pages
from warploom.evaluation.affine import energy as affine_energy
from warploom.evaluation.affine import experiment as affine
from warploom.evaluation.bypassing import experiment as bypassing
from warploom.evaluation.coalescing import experiment as coalescing
from warploom.evaluation.energy import sensitivity
from warploom.evaluation.energy.assumptions import ASSUMED, FIGURES, Assumptions
from warploom.evaluation.energy.costs import Costs, collector_words
from warploom.evaluation.energy.named_registers import NamedRegisters, named_registers
from warploom.evaluation.energy.sensitivity import Headline
from warploom.evaluation.gating import experiment as gating
from warploom.evaluation.gating.energy import WHOLE
from warploom.evaluation.hardware.overhead import mask_buffer
from warploom.evaluation.published import published
from warploom.evaluation.register_file_energy import (
    gpu_saved,
    gpu_saved_by_affine,
    gpu_saved_by_time,
    gpu_saved_by_work,
    macros_saved,
    register_file,
    register_file_saved,
    shares,
)
from warploom.evaluation.traces.toggling import Toggling, names
from warploom.synth import cell_energy, liberty
from warploom.synth.power import mean_energy
from warploom.synth.sram import VOLTAGE, Macro

NARROW, PASCAL, GTX480 = SmConfig.preset("narrow"), SmConfig.preset("pascal"), SmConfig.preset("gtx480")
COALESCING = dataclasses.replace(NARROW, coalescing=Coalescing.ON)
CORF = coalescing.configurations(NARROW)["wid_corf"]
WINDOWS = dataclasses.replace(PASCAL, bypass=Bypass.BOW_HINTS)
AFFINE = dataclasses.replace(NARROW, affine=Affine.ABM)
GATING = dataclasses.replace(NARROW, gating=Gating.CROSS_LANE)
HALF = 0.5
"""The share of bits that toggle in these tests."""

QUIET = Toggling(dict.fromkeys(names(), 4), dict.fromkeys(names(), 1))
"""A quarter of the bits toggle."""


def costs(config=NARROW, **assumed):
    return Costs(config, HALF, dataclasses.replace(ASSUMED, **assumed))


# ------------------------------------------------------------------ events by hand


def test_an_access_to_a_sub_bank():
    # 185.26 pJ for 1024 of 524288 bits, to 256 of 65536 bits, from 28 to 45 nm and from 0.96 to 1.1 V
    expected = 185.26 * (256 / 1024) * (1 / 8) ** 0.5 * (45 / 28) * (1.1 / 0.96) ** 2
    assert costs().sub_bank == pytest.approx(expected)
    assert costs(sram_power=1.12).sub_bank == pytest.approx(expected * (1 / 8) ** 0.62)


def test_a_bit_on_a_wire():
    # half of the bits toggle, and half of these charge a wire as long as a square of 1 Mibit and 12 words is wide
    side = (2**20 * 0.692 + 12 * FIGURES["collector_word"]["slots"]) ** 0.5
    assert costs().wire == pytest.approx(0.25 * 0.2e-3 * side * 1.1**2)
    assert costs(wire_length=2).wire == pytest.approx(2 * costs().wire)


def test_collectors_with_a_window_make_wires_longer_unless_they_are_small():
    assert (collector_words(PASCAL), collector_words(WINDOWS)) == (32 * 3, 32 * 12)
    assert costs(WINDOWS).wire > 1.5 * costs(PASCAL).wire
    assert costs(WINDOWS, collector_area=0).wire == pytest.approx(costs(PASCAL, collector_area=0).wire)


def test_a_flip_flop_takes_a_clock_cycle_and_half_of_a_toggle():
    assert costs().flip_flop == pytest.approx((8.3 + 13.3 / 2) / 1000)
    assert costs().clock == 0
    assert costs(ungated_clock=1, flip_flop=2).clock == pytest.approx(2 * 8.3 / 1000)


def test_a_flip_flop_is_that_of_the_library():
    """Both edges of the clock; a toggle of D and of both outputs, at 20 ps, Q with 4 fF behind it."""
    library = liberty.load(None)
    pins, inputs = cell_energy.load(library)["DFF_X1"], library.cells["DFF_X1"].inputs

    def edge(pin, load=0.0):
        return mean_energy(pins[pin], np.array([20.0]), np.array([load]))[0]

    clock, data = (VOLTAGE**2 * np.mean(inputs[pin]) for pin in ("CK", "D"))
    known = FIGURES["flip_flop"]
    assert known["clock_fj"] == pytest.approx(2 * edge("CK") + clock, abs=0.06)
    driven = (data + VOLTAGE**2 * 4) / 2
    assert known["toggle_fj"] == pytest.approx(edge("D") + edge("Q", 4) + edge("QN") + driven, abs=0.06)


def test_areas_are_those_of_the_committed_synthesis():
    """No area of `energy.toml` is older than `hardware_areas`, and none is missing there."""
    areas = {area["key"]: area["um2"] for area in pages.document("hardware_areas")["areas"]}
    used = {".".join(path): value for path, value in leaves(
        {name: FIGURES[name] for name in ("collector_word", "logic", "lane")}) if isinstance(value, int | float)}
    assert used == {key: round(um2) for key, um2 in areas.items()}


def leaves(table, *above):
    """The path and value of each entry of nested tables."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, *above, name)
        else:
            yield (*above, name), value


def test_logic_takes_what_an_adder_of_its_area_takes():
    assert costs().logic(137) == pytest.approx(0.1 * (1.1 / 0.9) ** 2)
    assert costs(logic=2).logic(137) == pytest.approx(2 * costs().logic(137))


@pytest.mark.parametrize(("inputs", "levels"), [(1, 0), (2, 1), (4, 2), (12, 4), (48, 6)])
def test_a_bit_passes_a_multiplexer_for_each_level(inputs, levels):
    assert costs().selection(inputs) == pytest.approx(costs().logic(levels * 1.862))


def test_a_look_up_in_flip_flops_switches_a_share_of_all_multiplexers():
    assert costs(tables=1).table_read(1024, 3) == pytest.approx(costs().logic(1024 * 3 * 1.862))
    assert costs(tables=0.1).table_read(1024, 3) == pytest.approx(costs(tables=1).table_read(1024, 3) / 10)


def test_what_toggles_is_counted_unless_it_is_assumed_to_be_random():
    counted = dataclasses.replace(run(NARROW), toggling=Toggling({"whole_off": 8}, {"whole_off": 1}))
    assert Costs.of(counted).toggling == pytest.approx(1 / 8)
    assert Costs.of(counted, dataclasses.replace(ASSUMED, random_data=1.0)).toggling == pytest.approx(0.5)


def test_another_form_of_the_words_has_the_same_assumptions():
    """Without gating an eighth of the bits toggles, a quarter with it."""
    toggling = Toggling({"whole_off": 8, "whole_cross_lane": 4}, {"whole_off": 1, "whole_cross_lane": 1})
    counted = dataclasses.replace(run(GATING), toggling=toggling)
    gated = Costs.of(counted, dataclasses.replace(ASSUMED, wire_length=3.0))
    whole = gated.of_form(counted, gating=Gating.OFF)
    assert (gated.toggling, whole.toggling) == (0.25, 0.125)
    assert whole.wire == pytest.approx(gated.wire / 2) == pytest.approx(3 * costs().wire / 4)


# ------------------------------------------------------------------ the register file


def test_every_event_counts_once():
    found = register_file(run(NARROW, sub_bank_reads=3, column_reads=24, sub_bank_writes=2, column_writes=16,
                              collector_columns=24, operand_columns=32, cycles=5))
    c = costs()
    assert found.macros == pytest.approx(5 * c.sub_bank)
    assert found.wires == pytest.approx(32 * 40 * c.wire)
    assert found.registers == pytest.approx(32 * 56 * c.flip_flop)
    assert found.selection == pytest.approx(
        32 * (24 * c.selection(4) + 16 * c.selection(len(NARROW.write_paths)) + 32 * c.selection(4)))
    assert (found.clock, found.added) == (0, {})
    assert found.total == pytest.approx(found.macros + found.wires + found.registers + found.selection)


MOVED = {"whole_off": 8, "whole_cross_lane": 4, "narrow_off": 6}
TOGGLED = {"whole_off": 1, "whole_cross_lane": 2, "narrow_off": 3}
"""Bits that toggle: an eighth in whole words, a half in columns that are not zero or not known."""


def test_a_bank_without_column_enables_puts_out_words_that_toggle_as_without_gating():
    gated = dataclasses.replace(run(GATING, sub_bank_reads=3, column_reads=10, column_writes=5),
                                toggling=Toggling(MOVED, TOGGLED))
    c = Costs.of(gated)
    assert register_file(gated).wires == pytest.approx(32 * 15 * c.wire)
    assert register_file(gated, WHOLE).wires == pytest.approx(32 * (24 * c.wire / 4 + 5 * c.wire))
    passed = register_file(gated, WHOLE).selection - register_file(gated).selection
    assert passed == pytest.approx(32 * (24 - 10) * c.selection(4))


def test_a_word_that_is_read_is_selected_from_banks():
    assert (GTX480.banks, GTX480.collectors) == (4, 16)
    assert register_file(run(GTX480, column_reads=3)).selection == pytest.approx(32 * 3 * costs(GTX480).selection(4))


def test_an_operand_is_selected_from_the_collectors_of_its_port():
    assert [len(GTX480.holders_of(port)) for port in range(len(GTX480.dispatch_ports))] == [6, 6, 8, 2]
    c = costs(GTX480)
    assert register_file(run(GTX480, operand_columns=4)).selection == pytest.approx(32 * 4 * 2.5 * c.selection(2))


def test_an_ungated_clock_reaches_collectors_and_tables_in_every_cycle():
    assumed = dataclasses.replace(ASSUMED, ungated_clock=1.0)
    plain, narrow = (register_file(run(config, cycles=10), assumed=assumed).clock for config in (NARROW, COALESCING))
    assert plain == pytest.approx(10 * 8.3 / 1000 * 4 * 3 * 1024)
    loading = register_file(run(NARROW, cycles=10, collector_columns=32), assumed=assumed).clock
    assert plain - loading == pytest.approx(8.3 / 1000 * 1024)
    assert narrow - plain == pytest.approx(10 * 8.3 / 1000 * 3 * 1024)
    corf = register_file(run(CORF, cycles=10), assumed=assumed).clock
    assert corf - plain == pytest.approx(10 * 8.3 / 1000 * 4 * (3024 + 1024)), "masks, and what is free"
    tags = register_file(run(AFFINE, cycles=10, affine=dict.fromkeys(COMPACT, 0)), assumed=assumed).clock
    assert tags - plain == pytest.approx(10 * 8.3 / 1000 * 2 * 512), "tags of both schedulers"


OPERANDS = {"operands": [0, 0, 1, 0], "destination_widths": [0, 1, 0, 0], "bank_writes": [0, 1, 0, 0]}
"""Two operands, one result."""


def test_the_mask_buffer_is_looked_up_for_each_operand_and_result_and_changed_for_results():
    by_write = dataclasses.replace(COALESCING, alignment=Alignment.WRITE)
    for config, bits in ((COALESCING, 3), (by_write, 4)):
        assert mask_buffer(config) == (1024, bits)
        found = register_file(run(config, **OPERANDS)).added["encodings"]
        assert found == pytest.approx(3 * costs().table_read(1024, bits) + bits * costs().flip_flop)


def test_an_issue_port_looks_up_in_its_own_mask_buffer():
    fermi = dataclasses.replace(SmConfig.preset("fermi"), coalescing=Coalescing.ON)
    words, bits = mask_buffer(fermi)
    found = register_file(run(fermi, operands=[0, 1, 0, 0])).added["encodings"]
    assert found == pytest.approx(costs().table_read(words // 2, bits))


def test_corf_has_a_table_in_flip_flops_and_one_in_sram():
    found = register_file(run(CORF, **OPERANDS)).added["encodings"]
    part = Macro(3024 // 4, 10).energy_pj
    assert found == pytest.approx(3 * (costs().table_read(3024, 4) + part) + 4 * costs().flip_flop + 6 * part)
    fermi = coalescing.configurations(SmConfig.preset("fermi"))["wid_corf"]
    found = register_file(run(fermi, operands=[0, 1, 0, 0])).added["encodings"]
    assert found == pytest.approx(costs().table_read(3024 // 2, 4) + part)


def test_coalescing_logic_is_passed_by_operands_and_results_and_the_arbiter_works_every_cycle():
    known = FIGURES["logic"]["coalescing"]
    found = register_file(run(COALESCING, **OPERANDS, cycles=7)).added["coalescing logic"]
    assert found == pytest.approx(costs().logic(2 * known["operand"] + known["result"] + 7 * known["arbiter"]))
    corf = FIGURES["logic"]["corf"]
    found = register_file(run(CORF, **OPERANDS, cycles=7)).added["coalescing logic"]
    assert found == pytest.approx(costs().logic(3 * corf["shifter"] + corf["allocator"]))


def test_the_arbiter_grows_with_banks_and_collectors():
    """That of our synthesis has four of each; `gtx480` has sixteen collectors."""
    found = register_file(run(GTX480.with_settings(["coalescing=on"]), cycles=7)).added["coalescing logic"]
    assert found == pytest.approx(costs().logic(7 * 4 * FIGURES["logic"]["coalescing"]["arbiter"]))


def test_only_results_that_are_written_change_an_encoding():
    """Of three results two are written; CORF gives a place to each."""
    counts = {"operands": [0, 1, 0, 0], "destination_widths": [0, 3, 0, 0], "bank_writes": [1, 1, 0, 0]}
    found = register_file(run(COALESCING, **counts)).added["encodings"]
    assert found == pytest.approx((1 + 3) * costs().table_read(1024, 3) + 2 * 3 * costs().flip_flop)
    corf = FIGURES["logic"]["corf"]
    found = register_file(run(CORF, **counts)).added["coalescing logic"]
    assert found == pytest.approx(costs().logic((1 + 3) * corf["shifter"] + 3 * corf["allocator"]))


def test_words_of_windows_are_neither_expanded_nor_fetched_but_have_a_width_when_they_are_evicted():
    """Of four operands one is fetched; one result, and two evictions."""
    config = WINDOWS.with_settings(["coalescing=on"])
    bypassed = {**dict.fromkeys(WINDOW, 0), "forwarded": 3, "fetched": 1, "slid": 2}
    found = register_file(run(config, operands=[0, 0, 2, 0], destination_widths=[0, 1, 0, 0], bypassed=bypassed))
    known = FIGURES["logic"]["coalescing"]
    expected = costs().logic(known["operand"] + (1 + 2) * known["result"])
    assert found.added["coalescing logic"] == pytest.approx(expected)


def test_what_happens_in_every_cycle_happens_in_every_sm():
    """The cycles of a GPU are those of its whole run; all other counts are sums over its SMs."""
    gpu = GpuConfig.preset("fermi").with_settings(["coalescing=on", "sms=3"])
    one, three = run(gpu.sm, **OPERANDS, cycles=7), dataclasses.replace(run(gpu.sm, **OPERANDS, cycles=7), machine=gpu)
    arbiter = costs().logic(FIGURES["logic"]["coalescing"]["arbiter"] * gpu.sm.banks * gpu.sm.collectors / 16)
    added = [register_file(each).added["coalescing logic"] for each in (one, three)]
    assert added[1] - added[0] == pytest.approx((3 - 1) * 7 * arbiter)
    assumed = dataclasses.replace(ASSUMED, ungated_clock=1.0)
    clock = [register_file(each, assumed=assumed).clock for each in (one, three)]
    assert clock[1] == pytest.approx(3 * clock[0])


COMPACT = {"attempts": 4, "compact_reads": 5, "expanded": 4, "compact_writes": 2, "expansions": 3}


WINDOW = {"forwarded": 2, "fetched": 4, "delivered": 3, "filed": 1, "both": 2, "slid": 1, "crowded": 2}


def test_what_does_not_enter_the_datapath_passes_nothing_there():
    """Of five results two are compact, and three expansions are new; of eleven operands a window has seven, and three
    words leave one."""
    counts = {"operands": [2, 1, 2, 2], "destination_widths": [5, 0, 0, 0], "bank_writes": [1, 2, 0, 0]}
    assert named_registers(run(NARROW, **counts)) == NamedRegisters(11, 11, 5, 5, 3)
    assert named_registers(run(AFFINE, **counts, affine=COMPACT)) == NamedRegisters(11, 11, 6, 6, 3)
    windows = dataclasses.replace(AFFINE, bypass=Bypass.BOW_HINTS)
    assert named_registers(run(windows, **counts, affine=COMPACT, bypassed=WINDOW)) == NamedRegisters(11, 4, 6, 9, 3)


def test_compact_registers_are_sram_with_three_copies_and_tags():
    found = register_file(run(AFFINE, **OPERANDS, affine=COMPACT)).added
    entries = AFFINE.affine_entries
    expected = (5 + 3 * 2) * Macro(entries, 48).energy_pj + costs().table_read(entries, 1)
    assert found["compact registers"] == pytest.approx(expected)
    assert found["expansion"] == pytest.approx(costs().logic(4 * FIGURES["logic"]["affine"]["operand"]))


def test_an_attempt_takes_as_much_as_lanes_of_its_area():
    before = run(NARROW, lane_operations=64)
    after = run(AFFINE, lane_operations=32, affine={**COMPACT, "attempts": 1})
    lanes = FIGURES["logic"]["affine"]["attempt"] / FIGURES["lane"]["lane"]
    assert affine_energy.execution_saved(after, before) == pytest.approx(100 * (1 - (32 + lanes) / 64))


def test_mechanisms_together_add_what_each_adds():
    config = dataclasses.replace(AFFINE, coalescing=Coalescing.ON, gating=Gating.CROSS_LANE, bypass=Bypass.BOW_HINTS)
    found = register_file(run(config, **OPERANDS, datapath_instructions=1, affine=COMPACT, bypassed=WINDOW))
    assert list(found.added) == [
        "encodings", "coalescing logic", "zero buffer", "detector and switches", "fields", "window network",
        "window logic", "compact registers", "expansion"]
    assert all(found.added.values()) and found.overhead == pytest.approx(sum(found.added.values()))
    around = found.wires + found.registers + found.selection + found.clock
    assert found.total == pytest.approx(found.macros + around + found.overhead) and found.overhead > 0.01 * found.total


def test_renaming_adds_look_ups_and_slow_rows_take_less():
    """Three of four accesses are of TFET rows, at 0.3 instead of 0.7 V. A row of the table has six bits, in four
    copies: two look-ups of operands and two of destinations, and two new values, each with two accesses to a list."""
    config = SmConfig.preset("small").with_settings(["pipes.sp.result_queue=2", "tfet_rows=8", "renaming=mem_ra"])
    bits = index_bits(config.rows)
    events = {"sub_bank_reads": 8, "column_reads": 64, "sub_bank_writes": 8, "column_writes": 64, "bank_reads": [2, 0],
              "bank_writes": [1, 1], "operands": [0, 2, 0, 0]}
    found = register_file(run(config, **events, slow={"reads": 2, "writes": 1}, renaming={"values": 2}))
    c = costs(config)
    assert found.macros == pytest.approx(16 * c.sub_bank * (1 / 4 + 3 / 4 * (3 / 7) ** 2))
    assert found.added == {"renaming": pytest.approx(
        (2 + 2 + 4 * 2) * c.sram(config.rows, 1 + bits) + 2 * 2 * c.sram(config.rows, bits))}
    plain = config.with_settings(["tfet_rows=0", "renaming=off"])  # the same accesses of CMOS rows
    assert register_file(run(plain, **events, slow={"reads": 2, "writes": 1})).macros == pytest.approx(16 * c.sub_bank)


def test_if_only_the_sram_saves_what_is_around_takes_as_much_as_before():
    before = register_file(run(NARROW, sub_bank_reads=100, column_reads=800, operand_columns=96))
    gated = run(GATING, sub_bank_reads=100, column_reads=200, **OPERANDS, datapath_instructions=1)
    after = register_file(gated)
    assert 0 < after.around < before.around and after.overhead > 0
    found = macros_saved(gated, run(NARROW, sub_bank_reads=100, column_reads=800, operand_columns=96))
    assert found == pytest.approx(100 * (before.macros - after.macros - after.overhead) / before.total)


# ------------------------------------------------------------------ a GPU


def test_a_gpu_is_fifteen_percent_register_file():
    before = run(NARROW, sub_bank_reads=100, cycles=200)
    after = run(NARROW, sub_bank_reads=60, cycles=180)
    assert register_file_saved(after, before) == pytest.approx(40)
    assert gpu_saved_by_work(after, before) == pytest.approx(0.15 * 40)
    assert gpu_saved_by_time(after, before) == pytest.approx(0.15 * 40 + 0.85 * 10)


def test_with_the_affine_unit_a_fifth_is_lanes():
    before = run(NARROW, sub_bank_reads=100, lane_operations=64, cycles=200)
    none = dict.fromkeys(COMPACT, 0)
    after = run(AFFINE, sub_bank_reads=60, lane_operations=32, cycles=180, affine=none)
    assert gpu_saved_by_affine(after, before) == pytest.approx(0.15 * 40 + 0.20 * 50 + 0.65 * 10)


def test_a_gpu_is_estimated_by_the_assumptions_that_are_given():
    """Flip-flops that take nothing, and lanes of which an attempt takes twice as much."""
    assumed = dataclasses.replace(ASSUMED, flip_flop=0.0, lane=2.0)
    before = run(NARROW, sub_bank_reads=100, collector_columns=900, lane_operations=64, cycles=200)
    after = run(AFFINE, sub_bank_reads=60, collector_columns=900, lane_operations=32, cycles=180,
                affine={**dict.fromkeys(COMPACT, 0), "attempts": 1})
    lanes = 2 * FIGURES["logic"]["affine"]["attempt"] / FIGURES["lane"]["lane"]
    executed = 100 * (1 - (32 + lanes) / 64)
    assert gpu_saved(after, before, assumed) == pytest.approx(0.15 * 40 + 0.85 * 10)
    assert gpu_saved_by_affine(after, before, assumed) == pytest.approx(0.15 * 40 + 0.20 * executed + 0.65 * 10)


def test_parts_are_shares_of_the_baseline():
    kernels = {name: {"off": run(NARROW, sub_bank_reads=4), "on": run(NARROW, sub_bank_reads=reads)}
               for name, reads in (("a", 2), ("b", 3))}
    off, on = shares(kernels, {"off": "off", "on": "off"})
    assert (off["macros"], off["total"], on["macros"], on["total"]) == pytest.approx((100, 100, 62.5, 62.5))


def test_what_a_mechanism_adds_is_a_share_of_the_baseline_of_each_kernel():
    """A look-up for one operand, where rows of 4 and of 8 sub-banks are all of the baseline."""
    kernels = {name: {"off": run(NARROW, sub_bank_reads=whole),
                      "on": run(COALESCING, sub_bank_reads=reads, operands=[0, 1, 0, 0])}
               for name, whole, reads in (("a", 4, 2), ("b", 8, 6))}
    on, = shares(kernels, {"on": "off"})
    row = ASSUMED.row_share * costs().sub_bank
    added = {"encodings": costs().table_read(1024, 3),
             "coalescing logic": costs().logic(FIGURES["logic"]["coalescing"]["operand"])}
    expected = {name: 100 * (spent / (4 * row) + spent / (8 * row)) / 2 for name, spent in added.items()}
    assert on["added"] == pytest.approx(expected)
    assert (on["macros"], on["overhead"]) == pytest.approx(((50 + 75) / 2, sum(expected.values())))
    assert on["total"] == pytest.approx(on["macros"] + on["overhead"])


# ------------------------------------------------------------------ assumptions


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Assumptions)])
def test_an_assumption_has_a_range_around_its_value_and_a_source(name):
    entry = FIGURES["assumptions"][name]
    assert entry["least"] <= entry["value"] <= entry["most"] and entry["least"] < entry["most"]
    assert entry["what"] and entry["source"]


def test_every_assumption_is_used():
    """Each changes a headline of some experiment."""
    fields = {"sub_bank_reads": 9, "column_reads": 70, "column_writes": 8, "collector_columns": 9, "cycles": 9,
              "lane_operations": 64, "lanes_trivial": 8, "datapath_instructions": 2, **OPERANDS}
    less = {**fields, "sub_bank_reads": 5, "column_reads": 30, "cycles": 8}
    window = dict.fromkeys(("forwarded", "fetched", "delivered", "filed", "both", "slid", "crowded"), 1)
    found = set()
    fermi, maxwell = SmConfig.preset("fermi"), SmConfig.preset("maxwell")
    for experiment, configs in ((coalescing, coalescing.configurations(fermi)),
                                (gating, gating.configurations(maxwell, ())),
                                (bypassing, bypassing.configurations(PASCAL, ())),
                                (affine, affine.configurations(fermi))):
        on = {**less, "bypassed": {**window, "cache_reads": 1, "cache_writes": 1}, "affine": COMPACT}
        baselines = {headline.baseline for headline in experiment.HEADLINES}
        runs = {name: dataclasses.replace(run(config, **(fields if name in baselines else on)), toggling=QUIET)
                for name, config in configs.items()}
        found |= {row["assumption"] for row in sensitivity.rows(experiment.HEADLINES, {"k": runs})}
    leakage = {"cmos_leakage", "drowsy_leakage", "tfet_leakage"}  # tests/evaluation/test_evaluation_tfet.py varies them
    engine = {"idle_lanes"}  # tests/evaluation/test_evaluation_fg_simt_cost.py varies it
    assert found | leakage | engine == set(FIGURES["assumptions"])


def test_the_assumption_that_carries_most_comes_first():
    def compare(ours, baseline, assumed=ASSUMED):
        return 10 * assumed.logic + assumed.flip_flop

    runs = {"k": {"on": run(NARROW), "off": run(NARROW)}}
    rows = sensitivity.rows([Headline("Fig. 1", "12", compare, "on", "off")], runs)
    assert [(row["assumption"], row["with least"], row["with most"], row["range"]) for row in rows] == [
        ("logic", 3.5, 21.0, 17.5), ("flip_flop", 10.5, 12.0, 1.5)]
    assert all(math.isclose(row["ours"], 11) for row in rows)


def test_a_figure_may_be_highest_between_the_ends():
    def compare(ours, baseline, assumed=ASSUMED):
        return min(assumed.flip_flop, 1 / assumed.flip_flop)  # as low at 2 as at 0.5

    runs = {"k": {"on": run(NARROW), "off": run(NARROW)}}
    row, = sensitivity.rows([Headline("Fig. 1", "12", compare, "on", "off")], runs)
    assert (row["ours"], row["with least"], row["with most"], row["range"]) == (1, 0.5, 0.5, 0.5)


@pytest.mark.parametrize(("experiment", "number", "bars"), [
    (coalescing, "Fig. 3.33, whole GPU", ["reg"]), (coalescing, "Table 3.7, whole GPU", ["corf_plus"]),
    (gating, "Fig. 4.9", None), (gating, "Fig. 4.10", None), (gating, "Fig. 4.11", None),
    (bypassing, "BOW, Fig. 13", ["bow"]), (bypassing, "BOW, Fig. 13", ["bow_hints"]),
    (affine, "Affine, Fig. 8", ["whole GPU"]),
])
def test_a_headline_is_what_the_source_prints(experiment, number, bars):
    """The sum, where bars are stacked."""
    values = [published()[number][bar] for bar in bars or published()[number]]
    printed = str(values[0]) if len(values) == 1 else f"{sum(value.value for value in values):.1f}"
    assert printed in {headline.published for headline in experiment.HEADLINES}


@pytest.mark.parametrize("gating_setting", list(Gating))
def test_without_gating_a_register_file_is_what_it_is_for_other_mechanisms(gating_setting):
    fields = {"sub_bank_reads": 9, "column_reads": 72, "sub_bank_writes": 4, "column_writes": 32}
    off = register_file(run(NARROW, **fields)).total
    gated = register_file(run(dataclasses.replace(NARROW, gating=gating_setting), **fields))
    assert gated.total == pytest.approx(off)  # if all columns are used
