"""Pipes that schedulers own and share, in the golden model (docs/contract/pipes.md)."""

import dataclasses
import itertools
import random
from collections import Counter, deque
from types import SimpleNamespace

import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import Instruction, Op, Pipe, TimingClass
from warploom.arch.pipes import Sharing, Timing, shared_by
from warploom.golden_model.dispatch import Dispatcher, OldestFirst
from warploom.golden_model.front_end.decode import decode
from warploom.golden_model.front_end.steering import Steering
from warploom.golden_model.sharing import BySchedulers, choice
from warploom.golden_model.sm import Sm
from warploom.tb.pipes import DOUBLE_APART, SHARED

ADD, MEM = int(TimingClass.INT_ADD), int(TimingClass.MEM)
SHARES = [Sharing.EVEN, Sharing.STATIC, Sharing.FAIR]


def one_shared(sharing, *settings):
    """A machine of four schedulers that share its only pipe of SP, whose interval is 1."""
    return SmConfig.preset("small").with_settings(
        ["schedulers=4", "timing.int_add=[4, 1]", "mem.dispatch_port=1", "sfu.dispatch_port=1",
         f"sp.sharing={sharing}", *settings])


def dispatched(config, warps, cycles, *, timing=ADD, pipe=0, ready=None):
    """By cycle, the warp whose instruction leaves: all are ready (or the mask `ready` says which), of one class, and in
    order of issue."""
    order = BySchedulers(config)
    dispatcher, found = Dispatcher(config, order), []
    held = {index: SimpleNamespace(fields={"pipe": pipe, "timing": timing, "warp": warp},
                                   present=7 * (ready is None or ready >> index & 1))
            for index, warp in enumerate(warps)}
    for index in held:
        dispatcher.issued(index)
    port = dispatcher.port_of[pipe]
    for _ in range(cycles):
        chosen = dispatcher.select(held)
        index = dict(chosen).get(port)
        found.append(None if index is None else held[index].fields["warp"])
        dispatcher.step([(port, each, held[each].fields) for port, each in chosen], 0)
    return found


@pytest.mark.parametrize(("sharing", "schedulers"), [
    ("even", [0, 1, 2, 3, 0, 1, 2, 3]), ("fair", [0, 1, 2, 3, 0, 1, 2, 3]), ("static", [0, 0, 1, 1, 2, 2, 3, 3]),
])
def test_the_first_example_of_the_contract(sharing, schedulers):
    assert dispatched(one_shared(sharing), [0, 1, 2, 3, 0, 1, 2, 3], 8) == schedulers


@pytest.mark.parametrize(("sharing", "schedulers"), [
    ("even", [0, 3, None, None, 0, 3]), ("fair", [0, 3, 0, 3, None, None]), ("static", [0, 0, 3, 3, None, None]),
])
def test_two_of_four_schedulers(sharing, schedulers):
    assert dispatched(one_shared(sharing), [0, 0, 3, 3], 6) == schedulers


def test_an_owned_pipe_takes_the_oldest():
    config = one_shared("own", "sfu.sharing=fair", "mem.sharing=fair")
    assert dispatched(config, [3, 3, 0, 1], 4) == [3, 3, 0, 1]


@pytest.mark.parametrize(("sharing", "turns"), [("even", 4), ("fair", 1)])
def test_a_part_of_the_lanes_takes_more_turns(sharing, turns):
    """The quarter of a pipe has 8 lanes of 32: four turns, so 3 cycles more and four times the interval."""
    config = one_shared(sharing, "timing.int_mul=[5, 2]")
    assert config.timed_pipes[0].timing_of(TimingClass.INT_MUL) == Timing(5 + turns - 1, 2 * turns)
    assert dispatched(config, [1, 1], 9, timing=int(TimingClass.INT_MUL)) == [
        1, *[None] * (2 * turns - 1), 1, *[None] * (8 - 2 * turns)]


def test_parts_of_one_pipe_are_none_of_another():
    """While schedulers 1 to 3 use their parts of SP, all parts of the SFU are free."""
    config = one_shared(Sharing.EVEN, "sfu.dispatch_port=2", "sfu.sharing=even")
    dispatcher = Dispatcher(config, OldestFirst())
    for warp in range(4):
        dispatcher.issued(warp)
        dispatcher.step([(0, warp, {"pipe": 0, "timing": ADD, "warp": warp})], 0)
    sfu = config.numbers(Pipe.SFU)[0]
    root = {"timing": int(config.pipes[sfu].timing_classes[0])}
    assert not any(dispatcher.accepts(0, {"timing": ADD, "warp": warp}) for warp in (2, 3))
    assert all(dispatcher.accepts(sfu, {**root, "warp": warp}) for warp in range(4))


@pytest.mark.parametrize("lanes", [1, 5, 7, 8, 12, 31])
def test_turns_are_rounded_up(lanes):
    turns = {1: 32, 5: 7, 7: 5, 8: 4, 12: 3, 31: 2}[lanes]
    pipe = SmConfig().with_settings([f"sp.lanes={lanes}", "timing.int_add=[4, 1]"]).pipes[0]
    assert pipe.timing_of(TimingClass.INT_ADD) == Timing(4 + turns - 1, turns)


@pytest.mark.parametrize(("sharing", "warps"), [("own", [None, None]), ("fair", [1, None]), ("static", [1, None])])
def test_only_those_of_a_scheduler_hold_each_other_up(sharing, warps):
    """The first instruction, of scheduler 0, is not ready; neither is the third, which is older than the fourth."""
    config = one_shared("fair", f"mem.sharing={sharing}", f"sfu.sharing={sharing}", "mem.credits=8")
    assert dispatched(config, [0, 1, 2, 2], 2, timing=MEM, pipe=2, ready=0b1010) == warps


@pytest.mark.parametrize("sharing", ["own", *SHARES])
def test_an_instruction_of_sp_passes_one_that_is_not_ready(sharing):
    """The first instruction is not ready; neither is the third, of the same warp as the fourth."""
    config = one_shared(sharing, "mem.sharing=fair", "sfu.sharing=fair")
    assert dispatched(config, [0, 1, 2, 2], 3, ready=0b1010) == [1, 2, None]


def test_fair_for_every_state_and_set_of_requests():
    """From each turn, with any schedulers asking in each cycle but one that always asks: at most three others are
    chosen before it."""
    for first, scheduler in itertools.product(range(4), repeat=2):
        waiting = {first}  # turns that the arbiter may have while the scheduler has been waiting
        for others in range(4):
            chosen = {choice(Sharing.FAIR, [(s, s) for s in range(4) if s == scheduler or asking >> s & 1], turn)
                      for turn in waiting for asking in range(16)}
            waiting = {(s + 1) % 4 for s in chosen - {scheduler}}
            assert len(waiting) <= 3 - others
        assert not waiting


@pytest.mark.parametrize(("sharing", "most"), [("fair", 3), ("static", None)])
def test_how_long_a_scheduler_waits(sharing, most):
    """All schedulers always have an instruction: the share of each, and the longest wait of one."""
    config = one_shared(sharing)
    dispatcher, order = Dispatcher(config, BySchedulers(config)), deque(range(4))
    held = {index: SimpleNamespace(fields={"pipe": 0, "timing": ADD, "warp": index}, present=7) for index in range(4)}
    for index in order:
        dispatcher.issued(index)
    counts, rng = Counter(), random.Random(5)
    since = dict.fromkeys(range(4), 0)
    for _ in range(400):
        ((port, chosen),) = dispatcher.select(held)
        counts[chosen] += 1
        since = {each: 0 if each == chosen else since[each] + 1 for each in since}
        assert most is None or max(since.values()) <= most
        dispatcher.step([(port, chosen, held[chosen].fields)], 0)
        dispatcher.issued(chosen)  # the next one of the same scheduler, now the youngest
        if rng.random() < 0.3:
            dispatcher.cycle += 1
    assert counts == (Counter(dict.fromkeys(range(4), 100)) if most else Counter({0: 400}))


def last_dispatches(sharing, collectors):
    """By scheduler, the cycle of its last dispatch: each has two warps of 24 special functions, on one shared unit."""
    config = one_shared("own", f"sfu.sharing={sharing}", "mem.sharing=fair", "mem.dispatch_port=2", "sfu.write_path=1",
                        "sfu.credits=64", "mem.write_path=0", "timing.sfu=[8, 1]", "issue_ports=4",
                        f"collectors={collectors}", "turnaround=0", "arrival_delay=0")
    special = [Instruction(op=Op.MUFU, dst=1 + number % 12) for number in range(24)]
    sm, last = Sm(config, trace_of(special, warps=8)), dict[int, int]()
    sm.step()
    while not sm.finished:
        for sent in sm.datapath.leaving:
            last[sent["warp"] % 4] = sm.cycle
        sm.step()
    return [last[scheduler] for scheduler in range(4)]


def test_the_first_scheduler_is_the_fastest_if_the_order_is_static():
    """With a collector for each instruction in flight the schedulers finish one after the other ([HAWS], 4.4.2); with
    few, those who lose occupy them, and the first scheduler must wait for one, too."""
    many, few = (last_dispatches("static", collectors) for collectors in (64, 8))
    assert many == sorted(many) and many[0] < 0.6 * many[3]
    assert few[0] > 0.8 * few[3]
    for sharing in ("fair", "even"):
        turns = last_dispatches(sharing, 64)
        assert max(turns) - min(turns) < 0.1 * max(turns)
        assert max(turns) < 1.1 * max(many), "all policies keep the unit busy"


# ------------------------------------------------------------------ the pipe of an instruction


def machine(*settings):
    """Four schedulers with a pipe of SP each, two shared ones, and one each of SFU and MEM."""
    return SmConfig.preset("small").with_settings([*SHARED, *settings])


def test_the_pipes_of_a_warp():
    config = machine()
    assert config.writers == ("sp", "sp2", "spa", "sfu", "mem")
    assert [config.serving(TimingClass.INT_ADD, warp) for warp in range(3)] == [(0, 2), (1, 2), (0, 2)]
    assert config.serving(TimingClass.MEM, 3) == (4,)


def test_warps_of_each_scheduler_take_both_pipes_that_keep_their_order():
    """Of double precision there are two for four schedulers: the first warp of each has the first one, and so on."""
    steering, found = Steering(SmConfig.preset("kepler")), []
    for slot in range(12):
        fields = {"timing": int(TimingClass.DP_DIV), "unit": int(TimingClass.DP_DIV)}
        steering.steer(fields, slot)
        found.append(SmConfig.preset("kepler").pipes[fields["pipe"]].name)
    assert found == ["dpu0"] * 4 + ["dpu1"] * 4 + ["dpu0"] * 4


def test_the_example_of_the_contract_for_the_pipe():
    config = SmConfig.preset("kepler")
    steering, found = Steering(config), []

    def issue(slot):
        fields = {"timing": ADD, "unit": ADD}
        steering.steer(fields, slot)
        found.append(config.pipes[fields["pipe"]].name)

    for _ in range(3):
        issue(1)
    assert found == ["sp1", "spa", "spb"]
    issue(5)  # a warp of the same scheduler
    issue(2)  # another scheduler, which has none that waits
    assert found[3:] == ["sp1", "sp2"]
    steering.dispatched(1, config.writers.index("spb"))
    issue(1)
    assert found[5] == "spb"


@pytest.mark.parametrize("settings", [(), DOUBLE_APART], ids=["one pipe", "double precision apart"])
def test_beats_go_to_the_pipe_of_their_instruction(settings):
    """LATCH, DADD and HIGH; then the special functions of the same warp."""
    config = machine(*settings)
    double = 3 + len(settings and ("special",))
    program = [Instruction(op=Op.LATCH, src=(1, 2, 255)), Instruction(op=Op.DADD, dst=3, src=(4, 5, 255)),
               Instruction(op=Op.HIGH, dst=6), Instruction(op=Op.MUFU, dst=7, src=(3, 255, 255))]
    sm, sent = Sm(config, trace_of(program), check=True), []
    units = [static.fields["unit"] for static in decode(sm.trace)[:4]]
    assert units == [TimingClass.DP_ADD, TimingClass.DP_ADD, TimingClass.DP_ADD, TimingClass.SFU]
    sm.step()
    while not sm.finished:
        sent += [(Op(each["op"]), each["pipe"], TimingClass(each["timing"])) for each in sm.datapath.leaving]
        sm.step()
    beat = TimingClass.DP_ADD if settings else TimingClass.SFU
    assert sent[:2] == [(Op.LATCH, double, beat), (Op.DADD, double, TimingClass.DP_ADD)]
    assert set(sent[2:]) == {(Op.HIGH, double, beat), (Op.MUFU, 3, TimingClass.SFU)}


@pytest.mark.parametrize("settings", [(), DOUBLE_APART, ("issue_per_warp=2",), ("coalescing=on",)],
                         ids=["plain", "double precision apart", "pairs", "coalescing"])
@pytest.mark.parametrize("sharing", SHARES)
def test_operands_and_results_are_those_of_functional_execution(sharing, settings):
    plain = machine(*settings)
    config = dataclasses.replace(plain, pipes=shared_by(plain.pipes, sharing))
    sm, used = Sm(config, random_trace(3, warps=8, length=120), check=True), Counter()
    orders: dict[tuple[int, int], list[int]] = {}
    sm.step()
    while not sm.finished:
        for sent in sm.datapath.leaving:
            used[config.writers[sent["pipe"]]] += 1
            if config.pipes[sent["pipe"]].kind is not Pipe.SP:
                orders.setdefault((sent["pipe"], sent["warp"]), []).append(sm.flight(sent["tag"]).issued)
        sm.step()
    assert set(used) == set(config.writers) - {"dpu"}  # the trace has no double precision
    assert all(order == sorted(order) for order in orders.values())


@pytest.mark.parametrize(("settings", "message"), [
    (["bypass=bow"], "pipes: one is shared, and bypass = bow: the collectors of a window take turns"),
    (["schedulers=3", "issue_ports=1", "warps=6"], "pipes: one is shared, and schedulers = 3: must be a power of two"),
    (["spa.sharing=even", "spa.lanes=15"], "pipes.spa.lanes = 15 and schedulers = 2 disagree"),
    (["spa.sharing=first"], "pipes.spa.sharing = 'first': must be one of own, even, static, fair"),
    (["spa.dispatch_port=0", "sfu.dispatch_port=2", "mem.dispatch_port=3"],
     "pipes: sp, spa differ in sharing on dispatch port 0: a port chooses by one policy"),
    (["spa.sharing=own"], "pipes: 3 of one class are owned, but schedulers = 2: must not be more"),
])
def test_shared_pipes_that_there_are_not(settings, message):
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        machine(*settings)
