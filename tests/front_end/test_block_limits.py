"""Schedulers of [TFET]: limits on the blocks of an SM, and picking by the stall mask (docs/contract/renaming.md)."""

from types import SimpleNamespace
from typing import Any

import pytest
from support.golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.gpu import GpuConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.evaluation.simulations import Case, timed
from warploom.evaluation.tfet import experiment as tfet
from warploom.golden_model.front_end.decisions import demand_of
from warploom.golden_model.front_end.issue import Issue
from warploom.golden_model.front_end.stalls import READY, Stall
from warploom.golden_model.gpu.clocks import Clock, Events
from warploom.golden_model.gpu.core import Core
from warploom.golden_model.gpu.limits import INTERVAL, ByFreeRows, ByWaiting, Limit, MemoryWaits
from warploom.golden_model.gpu.samples import Samples
from warploom.golden_model.gpu.simulate import GpuRun, simulate_gpu
from warploom.golden_model.sm import Sm

RENAMED = ("tfet_rows=56", "renaming=mem_ra")
DYNCTA = "block_scheduler=dyncta"


# ---------------------------------------------------------------- TUBA

def test_few_free_rows_lower_the_limit_and_many_raise_it() -> None:
    """Of 200 TFET rows fewer than 30 are few and more than 80 many; the limit stays between 1 and 3."""
    limit, rows, residency = Limit(3), [29], SimpleNamespace(ended=0)
    control = ByFreeRows(limit, residency, 200, lambda: rows[0])  # type: ignore[arg-type]

    def after(ended: int, free: int) -> int:
        rows[0], residency.ended = free, residency.ended + ended
        assert not control.look(0)
        return limit.blocks

    assert after(0, 0) == 3
    assert [after(1, free) for free in (30, 29, 80, 29, 0)] == [3, 2, 2, 1, 1]
    assert [after(1, free) for free in (80, 81, 200, 200)] == [1, 2, 3, 3]
    assert after(2, 0) == 1


# ---------------------------------------------------------------- DYNCTA

class Waiting:
    """Whether an SM waits for memory, as a test says."""

    now = False

    def __call__(self) -> bool:
        return self.now


def test_much_waiting_lowers_the_limit_and_little_raises_it() -> None:
    limit, waiting, cycle = Limit(3), Waiting(), 0
    control = ByWaiting(limit, waiting)
    for waited, blocks in [(1537, 2), (1536, 2), (2000, 1), (2000, 1), (512, 1), (511, 2)]:
        for waiting.now, cycles in ((True, waited), (False, INTERVAL - waited)):
            cycle += cycles
            assert control.look(cycle) == (not waiting.now and waited == 511)
        assert limit.blocks == blocks, waited
    assert control.next_event() == 7 * INTERVAL
    assert control.look(7 * INTERVAL) and control.next_event() is None


def test_looks_that_come_late_see_the_cycles_of_each_interval() -> None:
    """An SM that waits from 1,000 on: much in the second interval, but neither in the first nor at 4,500."""
    limit, waiting = Limit(4), Waiting()
    control = ByWaiting(limit, waiting)
    assert not control.look(1000)
    waiting.now = True
    assert not control.look(4500) and limit.blocks == 3
    assert control.next_event() == 3 * INTERVAL


def test_samples_are_taken_beside_a_control() -> None:
    """At each multiple of 1,024, also late; the SM is looked at whenever the control wants it."""
    control: Any = SimpleNamespace(look=lambda cycle: cycle == 3072, next_event=lambda: 77)
    samples = Samples(control, lambda: 5)
    assert [(samples.look(cycle), len(samples.found)) for cycle in (1023, 1024, 3072)] == [
        (False, 0), (False, 1), (True, 3)]
    assert samples.next_event() == 77
    alone = Samples(None, lambda: 5)
    assert not alone.look(1024) and alone.next_event() is None and alone.found == [5]


def test_a_limit_that_cannot_rise_is_looked_at_while_the_sm_waits() -> None:
    waiting = Waiting()
    control = ByWaiting(Limit(3), waiting)
    assert control.next_event() is None
    waiting.now = True
    assert control.next_event() == INTERVAL


@pytest.mark.parametrize(("of_sm", "of_control", "due"), [(9, 7, 7), (6, 7, 6), (None, 7, 7), (9, None, 9)])
def test_an_sm_that_waits_is_simulated_when_its_control_wants_it(
    of_sm: int | None, of_control: int | None, due: int
) -> None:
    """A limit that rises lets it take a block; before that come the cycles that are equal to the last one."""
    done: list[object] = []
    core: Any = Core(Events(), Clock(1))
    core.sm = SimpleNamespace(
        cycle=0, finished=False, advance=done.append, step=lambda: done.append("step"), next_event=lambda: of_sm,
        front_end=SimpleNamespace(offer_block=lambda: done.append("block")))
    core.control = SimpleNamespace(look=lambda cycle: cycle == 5, next_event=lambda: of_control)
    core.step(5)
    assert done == [4, "block", "step"] and core.due == due


MEM, OTHER = SimpleNamespace(busy=True, fields={"pipe": 2}), SimpleNamespace(busy=True, fields={"pipe": 0})


@pytest.mark.parametrize(("causes", "collectors", "waits"), [
    ([Stall.MEMORY], [OTHER], False), ([Stall.MEMORY] * 2, [OTHER], True),
    ([Stall.MEMORY, Stall.BARRIER], [MEM], False), ([Stall.MEMORY, Stall.FENCE], [MEM], False),
    ([Stall.MEMORY, Stall.COLLECTOR], [MEM, MEM], True),
    ([Stall.COLLECTOR] * 2, [MEM, OTHER], False),
    ([Stall.COLLECTOR] * 2, [MEM, SimpleNamespace(busy=False, fields={"pipe": 2})], False),
])
def test_all_schedulers_must_wait(causes: list[Stall], collectors: list[object], waits: bool) -> None:
    """For a result, or behind instructions that wait for the memory unit."""
    sm = SimpleNamespace(config=SmConfig.preset("narrow").with_settings(["schedulers=2"]),
                         front_end=SimpleNamespace(stalls=SimpleNamespace(now=causes)),
                         datapath=SimpleNamespace(operands=SimpleNamespace(collectors=collectors)))
    assert MemoryWaits(sm)() == waits  # type: ignore[arg-type]


def loading(*settings: str) -> GpuRun:
    """120 blocks of a warp that loads a line and waits for it, three times, on an SM with eight block slots."""
    load = Instruction(op=Op.LD, access=Access.B32, space=Space.GLOBAL, dst=1)
    wait = Instruction(op=Op.IADD, dst=2, src=(1, 1, 1))
    gpu = GpuConfig.preset("tfet_gpu").with_settings(["sms=1", "slices=1", "channels=1", "mesh_columns=1", *settings])
    return simulate_gpu(gpu, trace_of([load, wait] * 3, warps=120, per_block=1), check=True)


def test_a_window_may_hold_an_instruction_for_memory() -> None:
    sm = SimpleNamespace(config=SmConfig.preset("narrow").with_settings(["bypass=bow"]),
                         front_end=SimpleNamespace(stalls=SimpleNamespace(now=[Stall.COLLECTOR] * 2)))
    for held, waits in (([[MEM], [OTHER, MEM]], True), ([[MEM], [OTHER]], False), ([[MEM], []], False)):
        collectors = [SimpleNamespace(held=instructions) for instructions in held]
        sm.datapath = SimpleNamespace(operands=SimpleNamespace(collectors=collectors))
        assert MemoryWaits(sm)() == waits  # type: ignore[arg-type]


def test_an_sm_that_waits_gets_fewer_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """With short intervals the limit is reached; every operand is checked, and skipped cycles change nothing."""
    monkeypatch.setattr("warploom.golden_model.gpu.limits.INTERVAL", 256)
    free, limited = loading(), loading(DYNCTA)
    assert limited.summed.occupancy < 0.7 * free.summed.occupancy
    assert limited.summed.warp_instructions == free.summed.warp_instructions
    monkeypatch.setattr(Sm, "next_event", lambda sm: sm.cycle + 1)
    assert loading(DYNCTA) == limited


@pytest.mark.long
@pytest.mark.parametrize("workload", ["transpose", "srad"])
def test_programs_wait_too_little_for_a_lower_limit(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that wait most, so that the figures of DYNCTA are those of its machine without it."""
    falling: list[bool] = []
    monkeypatch.setattr(Limit, "change", lambda limit, *, falls, rises: falling.append(falls))
    machine = tfet.configurations(GpuConfig.preset("tfet_gpu"), ())[tfet.DYNCTA]
    timed(Case(workload, "default", tfet.DYNCTA, machine, 12))
    assert falling and not any(falling)


@pytest.mark.parametrize(("settings", "message"), [
    (["block_scheduler=tuba"], "it asks how many TFET rows are free"),
    (["scheduler=trws", "tfet_rows=56"], "it asks the stall predictor"),
    ([DYNCTA, "front_end_interval=2"], "it counts the cycles of schedulers"),
])
def test_incompatible_settings(settings: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GpuConfig.preset("tfet_gpu").with_settings(settings)


# ---------------------------------------------------------------- TRWS

def test_preferred_warps_go_first_and_among_them_the_greedy_one() -> None:
    config = SmConfig.preset("small").with_settings(
        ["warps=4", "schedulers=1", "scheduler=trws", "pipes.sp.result_queue=2", *RENAMED])
    decisions = SimpleNamespace(free_entries=lambda free: free, apart=0)
    operands: Any = SimpleNamespace(free_collectors=[4], free=[0b1111] * 4)
    issue: Any = Issue(config, decisions, warps=range(4))  # type: ignore[arg-type]
    for slot in (2, 0, 3, 1):
        issue.joined(slot, 0)
        issue.comes(slot, demand_of(0, 1), READY)

    def picks(*preferred: int) -> list[int]:
        return [slot for mask in preferred for slot in issue.select(0, 9, operands, mask)[0]]

    assert picks(0, 0b1000, 0b1011, 0) == [2, 3, 3, 3]  # oldest; preferred; greedy among the preferred; greedy
    assert picks(0b0011, 0b0010, 0b0100) == [0, 1, 2]  # the oldest of two
    issue.enter(1, Stall.SCOREBOARD)
    assert picks(0b0010) == [2]  # a preferred warp that may not issue does not count
