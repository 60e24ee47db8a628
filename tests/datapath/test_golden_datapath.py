"""Invariants of the golden datapath over whole runs, and its probe."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op, Pipe, TimingClass
from warploom.arch.layout import address
from warploom.golden_model.dispatch import Dispatcher, OldestFirst
from warploom.golden_model.observation import shown_by
from warploom.golden_model.operands.plain_collector import PlainCollector
from warploom.golden_model.placement import Address
from warploom.golden_model.register_file.single import SingleFile
from warploom.golden_model.sm import Sm
from warploom.golden_model.words import spread
from warploom.tb.recording import probe_of

CONFIGS = [SmConfig.preset("narrow"), SmConfig.preset("small"),
           SmConfig(banks=8, collectors=3, layout="wid"), SmConfig(banks=2, collectors=6, schedulers=4),
           SmConfig(arrival_delay=0, turnaround=0)]
IDS = ["narrow", "small", "eight banks", "six collectors", "fast collectors"]


def _run(config: SmConfig, seed: int = 3) -> tuple[Sm, list[dict[str, int]]]:
    """The SM after a run, and its observed values in every cycle, which fit the port."""
    sm, probes = Sm(config, random_trace(seed), check=True), []
    port = probe_of(config, sm)
    while True:
        sm.step()
        if sm.finished:
            return sm, probes
        port.pack(sm.datapath.observe())
        probes.append(shown_by(sm.datapath) | {"cycle": sm.cycle})


@pytest.mark.parametrize("config", CONFIGS, ids=IDS)
def test_one_access_for_each_bank_and_operand_port(config: SmConfig) -> None:
    sm, probes = _run(config)
    reads = writes = 0
    for probe in probes:
        served = [probe[f"bank{b}_who"] for b in range(config.banks)
                  if probe[f"bank{b}_enable"] and not probe[f"bank{b}_write"]]
        assert len(set(served)) == len(served)
        reads += len(served)
        writes += sum(probe[f"bank{b}_write"] for b in range(config.banks))
    assert reads == sum(sm.datapath.register_file.bank_reads) > 100
    assert writes == sum(sm.datapath.register_file.bank_writes) > 100


@pytest.mark.parametrize("config", CONFIGS, ids=IDS)
def test_everything_dispatches_and_completes_once(config: SmConfig) -> None:
    sm, live, dispatched = Sm(config, random_trace(3)), set(), Counter()
    issued = 0
    while True:
        sm.step()
        if sm.finished:
            break
        if sm.datapath.dispatch[0] is not None:
            dispatched[sm.datapath.dispatch[0]["tag"]] += 1
            assert sm.datapath.dispatch[0]["tag"] in live
        live -= {done["tag"] for done in sm.datapath.done if done} | {flight.tag for flight in sm._ended}
        if sm.inputs.issue:
            issued += 1
            assert sm.inputs.issue[0]["tag"] not in live
            live.add(sm.inputs.issue[0]["tag"])
    assert not live and issued == sum(dispatched.values()) > 200


@pytest.mark.parametrize("config", CONFIGS, ids=IDS)
def test_a_waiting_slot_is_granted_in_bounded_write_free_cycles(config: SmConfig) -> None:
    """No collector waits for max(banks, collectors) consecutive cycles without a write."""
    _, probes = _run(config)
    waited, longest = [0] * config.collectors, 0
    for probe in probes:
        writing = any(probe[f"bank{b}_write"] for b in range(config.banks))
        granted = {probe[f"bank{b}_who"] for b in range(config.banks)
                   if probe[f"bank{b}_enable"] and not probe[f"bank{b}_write"]}
        for c in range(config.collectors):
            waits = probe[f"collector{c}_waiting"] and c not in granted and not writing
            waited[c] = waited[c] + 1 if waits else 0
            longest = max(longest, waited[c])
    assert 0 < longest < max(config.banks, config.collectors)


def test_the_dispatch_port_shows_the_choice_of_the_cycle_before() -> None:
    sm, before, sent = Sm(SmConfig(), random_trace(3)), None, 0
    while True:
        sm.step()
        if sm.finished:
            break
        assert sm.datapath.sent[0] is before
        before = sm.datapath.dispatch[0]
        sent += before is not None
    assert sent > 200


@pytest.mark.parametrize("layout", ["wid", "wshift"])
def test_places_come_back_with_the_results(layout: str) -> None:
    """Writes of every unit go to the physical address that the layout gives the destination."""
    config = SmConfig.preset("small").with_settings([f"layout={layout}"])
    sm, writers = Sm(config, random_trace(6)), Counter()
    while True:
        sm.step()
        if sm.finished:
            break
        for write in sm.datapath.writes():
            flight = sm.flight(write.tag)
            expected = address(config, sm.stride, flight.warp.slot, flight.static.instruction.dst)
            assert ((write.bank, write.row), write.byte_mask) == (expected, spread(flight.lanes))
            writers[write.writer] += 1
    assert set(writers) == {"sp", "sfu", "mem"}


def test_the_diagonal_advances_every_cycle() -> None:
    config = SmConfig()
    _, probes = _run(config)
    assert all(probe["diagonal"] == probe["cycle"] % 4 for probe in probes)


def test_a_repeated_operand_is_read_once() -> None:
    square = Instruction(op=Op.IMUL, dst=1, src=(2, 2, 255))
    sm = Sm(SmConfig(), trace_of([square]), check=True)
    while not sm.finished:
        sm.step()
    assert sum(sm.datapath.register_file.bank_reads) == 1


def test_dispatch_obeys_intervals_and_credits() -> None:
    config = SmConfig().with_settings(["sfu.credits=1"])
    dispatcher = Dispatcher(config, OldestFirst())
    collectors = [PlainCollector(index) for index in range(4)]
    common = {"reads": 0, "src0": 255, "src1": 255, "src2": 255, "imm_slot": 3, "imm": 0,
              "warp": 0}
    nowhere = Address(0, 0, 0)
    for index, (pipe, timing) in enumerate([(1, TimingClass.SFU), (1, TimingClass.SFU), (0, TimingClass.INT_MUL),
                                            (0, TimingClass.INT_ADD)]):
        collectors[index].issue(common | {"pipe": pipe, "timing": timing, "lanes": 1}, [nowhere] * 3, nowhere,
                                [None] * 4)
        dispatcher.issued(index)
    chosen = []
    for cycle in range(14):
        selected = dispatcher.select(collectors)
        chosen.append([index for _, index in selected])
        leaving = [(port, index, collectors[index].fields) for port, index in selected]
        dispatcher.step(leaving, (cycle == 9) << Pipe.SFU)
        for _, index in selected:
            collectors[index].release()
    # the second SFU instruction waits for the interval of 8 and then for the credit given at the end of cycle 9
    assert chosen == [[0], [2], [], [3], *[[]] * 6, [1], [], [], []]


@pytest.mark.parametrize(("held", "ready", "leaving"), [
    ("sp sp", 0b10, [1, None]),  # an older one of SP that is not ready holds nobody up
    ("sfu sfu sp", 0b110, [2, None]),  # one of SFU holds up those of its pipe
    ("mem sfu mem", 0b110, [1, None]),
    ("mem sp mem sfu", 0b1111, [0, 1, 2, 3]),  # of those that are ready the oldest
])
def test_which_instruction_leaves(held: str, ready: int, leaving: list[int | None]) -> None:
    """Collectors hold instructions for pipes that share a port, the oldest one in the first collector."""
    config = SmConfig().with_settings(["timing.int_add=[4, 1]"])
    dispatcher, found = Dispatcher(config, OldestFirst()), list[int | None]()
    classes = {"sp": TimingClass.INT_ADD, "sfu": TimingClass.SFU, "mem": TimingClass.MEM}
    pipes = [pipe.name for pipe in config.pipes]
    collectors: list[Any] = [
        SimpleNamespace(present=7 * (ready >> index & 1),
                        fields={"pipe": pipes.index(pipe), "timing": int(classes[pipe]), "warp": 0})
        for index, pipe in enumerate(held.split())]
    for index in range(len(collectors)):
        dispatcher.issued(index)
    for _ in leaving:
        chosen = dispatcher.select(collectors)
        dispatcher.step([(port, index, collectors[index].fields) for port, index in chosen], 0)
        found.append(chosen[0][1] if chosen else None)
    assert found == leaving


def test_write_back_slots_keep_results_apart() -> None:
    """A latency 5 instruction and a latency 4 one a cycle later would finish together: the second waits."""
    config = SmConfig()
    sm, cycles = Sm(config, trace_of([Instruction(op=Op.IMAD, dst=1), Instruction(op=Op.IADD, dst=2)])), []
    while True:
        sm.step()
        if sm.finished:
            break
        if sm.datapath.dispatch[0] is not None:
            cycles.append(sm.cycle)
    assert cycles[1] - cycles[0] == 2


def test_write_back_slots_come_closer_in_cycles_that_are_skipped() -> None:
    """A result comes in five cycles, so in four after one of them, and in two after three."""
    config = SmConfig()
    dispatcher = Dispatcher(config, OldestFirst())
    four = next(c for c in config.pipes[0].timing_classes if config.pipes[0].timing_of(c).latency == 4)
    dispatcher.slots[0] = 1 << 5
    dispatcher.advance()
    assert not dispatcher.has_slot(0, four)
    dispatcher.slots[0] = 1 << 5
    dispatcher.advance(3)
    assert dispatcher.has_slot(0, four) and dispatcher.slots[0] == 1 << 2


def test_write_back_latches() -> None:
    writeback = SingleFile(SmConfig()).writeback
    first = {"tag": 1, "bank": 3, "row": 4, "left": 0, "writes": 1, "lanes": 1, "full": 0, "pred": 0, "data": 9}
    predicate = first | {"tag": 2, "writes": 0}
    writeback.step((None, first, predicate), (False,) * 3)
    assert writeback.requests() == [None, 3, None]
    assert writeback.done((False,) * 3) == [None, None, predicate]
    assert writeback.ready((False,) * 3) == [True, False, True]
    writeback.step((None, None, first), (False, True, False))
    assert writeback.latches == [None, None, first]
    with pytest.raises(AssertionError, match="latch is full"):
        writeback.step((None, None, first), (False,) * 3)


def _in_the_only_collector(settings: list[str], *code: Instruction) -> tuple[list[int], list[int]]:
    """Cycles in which a core with one collector issues, and dispatches, the instructions of two warps."""
    config = SmConfig.preset("small").with_settings(["collectors=1", "banks=4", "layout=wid", *settings])
    sm, issued, dispatched = Sm(config, trace_of(code, warps=2), check=True), [], []
    sm.step()
    while not sm.finished:
        issued += [sm.cycle] * sum(fields is not None for fields in sm.inputs.issue)
        dispatched += [sm.cycle] * sum(chosen is not None for chosen in sm.datapath.dispatch)
        sm.step()
    return issued, dispatched


@pytest.mark.parametrize(("settings", "waits", "holds"), [
    ([], 3, 4), (["arrival_delay=0"], 2, 3), (["turnaround=0"], 3, 3), (["arrival_delay=0", "turnaround=0"], 2, 2),
], ids=str)
def test_how_long_a_collector_holds_an_instruction(settings: list[str], waits: int, holds: int) -> None:
    """From issue to dispatch, and to the issue of the next one; without sources it needs no arrival."""
    issued, dispatched = _in_the_only_collector(settings, Instruction(op=Op.IADD, dst=2, src=(3, 255, 255)))
    assert [later - earlier for earlier, later in zip(issued, dispatched, strict=True)] == [waits] * 2
    assert issued[1] - issued[0] == holds
    issued, dispatched = _in_the_only_collector(settings, Instruction(op=Op.MOV, dst=2, imm_slot=0, imm=5))
    assert [later - earlier for earlier, later in zip(issued, dispatched, strict=True)] == [1] * 2
    assert issued[1] - issued[0] == holds - waits + 1
