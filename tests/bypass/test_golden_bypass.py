"""The datapaths with windows (docs/contract/operands.md): cycles of a few instructions, properties, whole kernels."""

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from support.bypassing import config
from support.gated_runs import add, cycles, integers, mov
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.fields import pack
from warploom.arch.interfaces import dispatch_fields, issue_fields, result_fields
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.compiler.compile import compile_file
from warploom.compiler.writeback_hints import annotate
from warploom.evaluation.traces.reuse import WINDOWS, reuse
from warploom.golden_model.bypass.lost import LostValue
from warploom.golden_model.datapath import Datapath
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.observation import shown_by
from warploom.golden_model.records import SOURCES
from warploom.golden_model.simulate import Run, simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect
from warploom.golden_model.trace import NONE, Trace
from warploom.golden_model.words import ALL_LANES
from warploom.kernels.library import kernel, kernels
from warploom.tb.recording import probe_of

MODES = ("bow", "bow_wr", "bow_hints")
FILES = [
    [], ["coalescing=on"], ["coalescing=on", "alignment=write"], ["gating=active"], ["gating=in_lane"],
    ["gating=cross_lane"], ["coalescing=on", "gating=active"], ["coalescing=on", "gating=in_lane"],
    ["coalescing=on", "gating=cross_lane"], ["coalescing=on", "alignment=write", "gating=cross_lane"],
]
LOAD = Instruction(op=Op.LD, dst=1, src=(2, 255, 255), space=Space.GLOBAL, access=Access.B32)
ROOT = Instruction(op=Op.MUFU, dst=1, src=(2, 255, 255))


def hinted(trace: Trace, setting: SmConfig) -> Trace:
    """A straight-line trace with the compiler's hints, if the configuration has any. For the compiler, instructions
    that not all lanes execute are guarded."""
    if not setting.bypass.has_hints:
        return trace
    program = trace.program
    code = [replace(instruction, guard=instruction.guard if lanes == ALL_LANES else 0)
            for instruction, lanes in zip(program.instructions, trace.warps[0].lanes, strict=True)]
    guarded = annotate(replace(program, instructions=tuple(code)), setting.window).instructions
    code = [replace(instruction, to_collector=hint.to_collector, to_file=hint.to_file)
            for instruction, hint in zip(program.instructions, guarded, strict=True)]
    return replace(trace, program=replace(program, instructions=tuple(code)))


def checked(setting: SmConfig, trace: Trace) -> Run:
    """A run with all operands and results compared with functional execution."""
    run = simulate(setting, hinted(trace, setting), check=True)
    assert run.sm.checker is not None and run.sm.checker.checked > trace.warp_instructions
    return run


def events(trace: Trace, setting: SmConfig) -> list[tuple[list[int], list[int], list[int]]]:
    """Tags by cycle: taken, dispatched, done."""
    found = []
    sm = Sm(setting, hinted(trace, setting), check=True)
    while True:
        sm.step()
        if sm.finished:
            return found
        datapath, issue = sm.datapath, next(iter(sm.inputs.issue), None)
        found.append((
            [] if issue is None else [issue["tag"]],
            [] if datapath.dispatch[0] is None else [datapath.dispatch[0]["tag"]],
            [result["tag"] for result in datapath.done if result is not None],
        ))


def times(kind: int, trace: Trace, setting: SmConfig) -> dict[int, int]:
    """By tag: the cycle in which it is taken (0), dispatched (1) or done (2)."""
    return {tag: cycle for cycle, tags in enumerate(events(trace, setting)) for tag in tags[kind]}


# ---------------------------------------------------------------------- cycles


@pytest.mark.parametrize("arrival_delay", [0, 1])
@pytest.mark.parametrize("mode", MODES)
def test_distance_of_dependent_instructions(mode: str, arrival_delay: int) -> None:
    """A forwarded operand needs no request; an addition has latency 4."""
    trace = trace_of([mov(1, 5), add(2, 1), add(3, 2, 1), add(4, 9, 3)])
    issued, sent = (times(kind, trace, config(mode, f"arrival_delay={arrival_delay}")) for kind in (0, 1))
    assert [issued[tag] - issued[tag - 1] for tag in (1, 2, 3)] == [7, 7, 7]
    assert [sent[tag] - issued[tag] for tag in range(4)] == [1, 1, 1, 2 + arrival_delay]


def test_dispatch_in_two_cycles() -> None:
    """An instruction is chosen when its last operand arrives, and leaves one cycle later."""
    trace = trace_of([mov(1, 5), add(2, 1), add(3, 2, 1), add(4, 9, 3)])
    issued, sent = (times(kind, trace, config("bow", "arrival_delay=0", "dispatch_delay=1")) for kind in (0, 1))
    assert [issued[tag] - issued[tag - 1] for tag in (1, 2, 3)] == [8, 8, 8]
    assert [sent[tag] - issued[tag] for tag in range(4)] == [2, 2, 2, 3]


def test_a_collector_dispatches_in_every_second_cycle_if_that_takes_two() -> None:
    sent = times(1, trace_of([mov(register, 1) for register in (1, 2, 3, 4)]), config("bow_wr", "dispatch_delay=1"))
    assert [sent[tag + 1] - sent[tag] for tag in range(3)] == [2, 2, 2]


def test_write_after_read_waits_for_nothing() -> None:
    trace = trace_of([add(1, 2, 3, 4), mov(2, 7), add(5, 2)])
    issued = times(0, trace, config("bow_wr"))
    assert issued[1] == issued[0] + 1
    checked(config("bow_wr"), trace)


@pytest.mark.parametrize("turnaround", [0, 1])
def test_only_so_many_instructions_are_held(turnaround: int) -> None:
    """One load leaves every 20 cycles, and three are held; the next one issues in the cycle after that, or in the same
    cycle."""
    code, setting = [replace(LOAD, dst=register) for register in range(3, 10)], f"turnaround={turnaround}"
    issued, sent = (times(kind, trace_of(code), config("bow_wr", "timing.mem=[1, 20]", setting)) for kind in (0, 1))
    assert [issued[tag] - issued[0] for tag in range(3)] == [0, 1, 2]
    assert [issued[tag + 3] - sent[tag] for tag in range(1, 4)] == [turnaround] * 3


def test_the_front_end_waits_for_room() -> None:
    """R1 to R4 are awaited, so three different registers find no free entries; an instruction without sources can
    issue."""
    code = [replace(LOAD, dst=register, src=(255, 255, 255)) for register in (1, 2, 3, 4)]
    code += [mov(6, 1), add(5, 7, 8, 9)]
    issued, done = (times(kind, trace_of(code), config("bow_wr", "entries=4", "window=8")) for kind in (0, 2))
    assert issued[4] == issued[3] + 1 and issued[5] > done[2]


def test_no_instruction_issues_while_an_eviction_is_on_its_way() -> None:
    """R1 leaves a window of two when R3 is computed, and is read again later."""
    trace = trace_of([mov(1, 5), add(2, 1), add(3, 2), add(4, 3), add(5, 1), add(6, 5)])
    setting = config("bow_wr", "window=2")
    sm, blocked = Sm(setting, trace, check=True), 0
    for datapath in cycles(sm):
        if datapath.operands.evictions.blocked:
            blocked += 1
            assert datapath.operands.free_entries[0] == 0 and not sm.inputs.issue
    counts = sm.datapath.counts
    assert blocked >= counts.slid > 1 and counts.fetched == 1


def test_sfu_waits_for_the_path_of_sp_even_if_that_needs_no_bank() -> None:
    """The results of an addition and a root reach their latches in one cycle: 4 = 1 + 3."""
    setting = config("bow_wr", "timing.sfu=[5, 8]")
    for writes in (True, False):
        code = [ROOT, mov(3, 4)] if writes else [ROOT, replace(mov(3, 4), dst=255, pdst=0, op=Op.ISETP)]
        done = times(2, trace_of(code), setting)
        sent = times(1, trace_of(code), setting)
        wait = 5 - (sent[1] - sent[0]) - 4
        assert wait == 0
        assert done[0] - done[1] == (1 if writes else 0)


def test_a_collector_takes_one_result_a_cycle() -> None:
    """Those of a load and a move come together, for banks and on paths of their own; that of memory is served last."""
    trace = trace_of([replace(LOAD, space=Space.SHARED), mov(4, 7), add(6, 4, 1)])
    setting = config("bow", "shared_latency=4")
    done = times(2, trace, setting)
    assert done[0] == done[1] + 1
    checked(setting, trace)


def test_a_result_that_is_not_delivered_holds_up_no_other() -> None:
    """That of the move is read when it has left the window, and goes to the register file alone."""
    code = [replace(LOAD, space=Space.SHARED), mov(4, 7), add(6, 1), add(8, 1), add(10, 1), add(12, 4)]
    setting = config("bow_hints", "shared_latency=4")
    done = times(2, trace_of(code), setting)
    assert not hinted(trace_of(code), setting).program.instructions[1].to_collector
    assert done[0] == done[1]


@pytest.mark.parametrize("latency", range(5, 12))
def test_a_path_carries_one_word_a_cycle_even_if_that_needs_no_bank(latency: int) -> None:
    """The results of SFU and SP of different warps."""
    setting = config("bow_wr", f"timing.sfu=[{latency}, 2]")
    trace = trace_of([ROOT, mov(3, 4), mov(5, 4), mov(7, 4)], warps=4)
    sm, both = Sm(setting, trace, check=True), 0
    for datapath in cycles(sm):
        held = [latch is not None for latch in datapath.register_file.writeback.latches[:2]]
        both += all(held)
        assert datapath.done[0] is None or datapath.done[1] is None
    assert both


def test_a_register_that_left_early_is_written_by_its_load() -> None:
    """The entry of a load's result does not stay longer than the window, and the result does not get another one."""
    trace = trace_of([LOAD, mov(3, 1), add(4, 3), add(5, 4), add(6, 1)])
    counts = checked(config("bow_wr"), trace).sm.datapath.counts
    assert counts.filed == 1 and counts.fetched == 2 and counts.delivered == 4


def test_a_transient_value_is_never_written() -> None:
    """A chain: each value is read by the next instruction only, and R2 is overwritten in the window."""
    code = [mov(1, 5), add(2, 1), add(2, 2), add(3, 2), add(4, 3), add(5, 4), add(6, 5)]
    written = [sum(checked(config(mode), trace_of(code)).statistics.bank_writes) for mode in MODES]
    assert written == [7, 3, 0]


def test_a_wrong_hint_is_found() -> None:
    code = [replace(mov(1, 5), to_file=False), add(2, 1), add(3, 2), add(4, 3), add(5, 4), add(6, 1)]
    with pytest.raises(LostValue, match="warp 0 reads R1"):
        simulate(config("bow_hints"), trace_of(code))
    simulate(config("bow_wr"), trace_of(code), check=True)  # without hints the bit has no meaning


def test_evictions_of_the_warp_before_do_not_reach_the_next() -> None:
    """Blocks use the slots one after the other; the results of the last instructions of a warp are dropped."""
    code = [mov(1, 5), add(2, 1), mov(3, 9)]
    run = checked(config("bow_wr", "blocks=1"), trace_of(code, warps=6, per_block=2))
    assert run.sm.datapath.counts.ended == 4 * 3


# ---------------------------------------------------------------------- properties


@pytest.mark.sample(10)
@pytest.mark.parametrize("files", FILES, ids=" ".join)
@pytest.mark.parametrize("mode", MODES)
def test_no_value_is_lost(mode: str, files: list[str]) -> None:
    """All pipes, partial writes, values of all widths; collectors of minimum size or larger. (In random traces only
    integer results are correct, so that no trivial operation can be checked.)"""
    for seed, (entries, window) in enumerate([(4, 3), (12, 2), (6, 7)]):
        setting = config(mode, *files, f"entries={entries}", f"window={window}")
        checked(setting, integers(seed))
        if not setting.gating.has_zero_mask:
            checked(setting, random_trace(seed))


@pytest.mark.parametrize("files", [[], ["coalescing=on", "gating=cross_lane"]], ids=" ".join)
@pytest.mark.parametrize("mode", MODES)
def test_skipping_quiet_cycles_changes_nothing(mode: str, files: list[str]) -> None:
    setting = config(mode, *files, "entries=4", preset="narrow")
    for seed in range(2):
        trace = hinted(random_trace(seed), setting)
        patient = Sm(setting, trace)
        while not patient.finished:
            patient.step()
        assert collect(patient) == simulate(setting, trace).statistics


@pytest.mark.parametrize("mode", MODES)
def test_counts_add_up(mode: str) -> None:
    setting = config(mode, "entries=6")
    trace = traced("matmul", setting)
    run = simulate(setting, trace)
    found, counts = run.statistics, run.sm.datapath.counts
    assert counts.forwarded + counts.fetched == sum(k * n for k, n in enumerate(found.operands))
    assert counts.fetched == sum(found.bank_reads) == found.operands_stored
    results = sum(int((warp.result != NONE).sum()) for warp in trace.warps)
    assert counts.delivered + counts.filed + counts.both == results
    assert sum(found.bank_writes) == counts.filed + counts.both + counts.slid + counts.crowded
    assert (counts.both > 0) is (mode == "bow") and (counts.overwritten > 0) is (mode != "bow")
    assert (counts.dropped > 0) is (mode == "bow_hints")
    assert sum(counts.occupancy.values()) == found.cycles * setting.warps
    assert max(counts.occupancy) <= 6


@pytest.mark.parametrize("files", [[], ["coalescing=on", "gating=cross_lane"]], ids=" ".join)
def test_what_is_shown_fits_the_ports(files: list[str]) -> None:
    """The probe shows the state of collectors; fields fit their ports; `free_entries` is that of each collector."""
    setting = config("bow_hints", *files, "entries=4")
    sm, evictions = Sm(setting, hinted(random_trace(5), setting)), 0
    port = probe_of(setting, sm)
    for datapath in cycles(sm):
        probe = shown_by(datapath)
        assert port.unpack(port.pack(datapath.observe())) == probe
        for collector in datapath.operands.collectors:
            for name, value in shown_by(collector).items():
                assert probe[f"collector{collector.index}_{name}"] == value
            blocked = bool(datapath.operands.evictions.blocked >> collector.index & 1)
            assert datapath.operands.free_entries[collector.index] == collector.free_entries(blocked)
        assert bool(datapath.operands.free_collectors[0]) == any(datapath.operands.free_entries)
        _fits(setting, sm, datapath)
        evictions += probe["evict_latched"]
        assert probe["evict_valid"] == (datapath.operands.evictions.held is not None)
        assert not probe["evict_latched"] or not probe["mem_done_valid"]
    assert evictions > 10


def _fits(setting: SmConfig, sm: Sm, datapath: Datapath) -> None:
    if sm.inputs.issue:
        pack(issue_fields(setting), sm.inputs.issue[0])
    if datapath.sent[0] is not None and datapath.sent[0]["writes"]:
        pack(dispatch_fields(setting), datapath.sent[0])
    for writer, result in enumerate(datapath.register_file.writeback.latches):
        if result is not None and result["writes"] and not (writer == 2 and datapath.operands.evictions.latched):
            pack(result_fields(setting), result)


@pytest.mark.parametrize("files", FILES, ids=" ".join)
def test_gating_and_counters(files: list[str]) -> None:
    """Collectors and operand registers take whole words without gating, and executing lanes with it."""
    trace = trace_of([mov(1, 5), add(2, 1), add(3, 9, 2)], lanes=[0xFF] * 3)
    activity = checked(config("bow_wr", *files), trace).sm.datapath.activity()
    gated = any(name.startswith("gating") for name in files)
    assert activity["collector_columns"] == (8 if gated else 32) * (3 + 1)
    assert activity["operand_columns"] == 3 * 3 * (8 if gated else 32)


@pytest.mark.sample(2)
@pytest.mark.parametrize("coalescing", ["off", "on"])
@pytest.mark.parametrize("mode", MODES)
def test_gating_changes_no_cycle(mode: str, coalescing: str) -> None:
    """The second of three reads of R2 lacks lanes that the first did not need, although a bank without gating has read
    them; the third finds all. The same with instructions of all kinds."""
    reads = trace_of([add(3, 2), add(4, 2), add(5, 2)], lanes=[0xFFFF, ALL_LANES, ALL_LANES])
    for trace, fetches in (reads, 2), (integers(3), None):
        found = []
        for gating in ("off", "active", "in_lane", "cross_lane"):
            setting = config(mode, f"coalescing={coalescing}", f"gating={gating}", "window_delay=off")
            counts = checked(setting, trace).sm.datapath.counts
            assert fetches in (None, counts.fetched)
            found.append((events(trace, setting), counts))
        assert all(run == found[0] for run in found)


# ---------------------------------------------------------------------- whole kernels


@cache
def traced(name: str, setting: SmConfig) -> Trace:
    found: Any = kernel(name)
    program = compile_file(found.ptx)
    if setting.bypass.has_hints:
        program = annotate(program, setting.window)
    executed = execute(program, found.load("tiny").launch).trace
    assert executed is not None
    return executed


KERNELS = [found.name for found in kernels()]
SOME_KERNELS = ["bfs", "hotspot", "matmul"]
"""Not only for the long regression."""


@pytest.mark.sample(4)
@pytest.mark.parametrize(("preset", "mode", "entries", "window"), [
    ("small", "bow", 12, 3), ("narrow", "bow_hints", 12, 7), ("pascal", "bow_hints", 6, 3), ("fermi", "bow_wr", 4, 2),
])
@pytest.mark.parametrize("name", SOME_KERNELS)
def test_kernels(name: str, preset: str, mode: str, entries: int, window: int) -> None:
    """No operand or result differs from functional execution, no dropped value is read, and accesses of the register
    file are saved."""
    setting = config(mode, f"entries={entries}", f"window={window}", preset=preset)
    run = simulate(setting, traced(name, setting), check=True)
    assert run.sm.checker is not None and run.sm.checker.checked > 7000
    counts = run.sm.datapath.counts
    assert counts.forwarded > 0.25 * (counts.forwarded + counts.fetched)


@pytest.mark.parametrize(("mode", "name"), [("bow", "matmul"), ("bow_wr", "matmul"), ("bow_hints", "reduction")])
def test_why_more_reads_are_saved_than_in_a_trace(mode: str, name: str) -> None:
    """Every read that the trace does not save finds an entry whose time is over, and which has not left yet."""
    setting = config(mode, preset="pascal")
    trace, late = traced(name, setting), Counter[bool]()
    sm, potential = Sm(setting, trace), reuse(trace)
    for datapath in cycles(sm):
        for fields in filter(None, sm.inputs.issue):
            for register in {fields[slot] for number, slot in enumerate(SOURCES) if fields["reads"] >> number & 1}:
                entry = datapath.operands.collectors[fields["warp"]].lookup(register)
                late[bool(entry and entry.dirty)] += bool(
                    entry and not fields["first"] and entry.age == setting.window - 1
                    and not fields["lanes"] & ~entry.known)
    counts = sm.datapath.counts
    assert counts.forwarded + counts.fetched == potential.reads
    assert counts.forwarded - late.total() == potential.bypassed[WINDOWS.index(setting.window)]
    assert late.total() > 0.03 * potential.reads and bool(late[True]) == setting.writes_back


@pytest.mark.long
@pytest.mark.parametrize("window", [2, 3, 7])
@pytest.mark.parametrize("entries", [12, 6, 4])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("preset", ["small", "narrow", "pascal"])
def test_kernels_in_all_sizes(preset: str, mode: str, entries: int, window: int) -> None:
    for name in KERNELS:
        test_kernels(name, preset, mode, entries, window)
