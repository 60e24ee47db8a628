"""The load/store unit of the GPU: on a path of fixed latency it takes the cycles of the one that knows all arrivals."""

import dataclasses

import numpy as np
import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.modifiers import Access, DType, Space
from warploom.compiler.compile import compile_file
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.gpu.fixed_path import FixedPath
from warploom.golden_model.gpu.load_store import LoadStore, Wait
from warploom.golden_model.gpu.packets import Kind, Request
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics, collect
from warploom.golden_model.trace import Traced
from warploom.kernels.library import kernel


def cycle_by_cycle(config: SmConfig, trace: Traced) -> Statistics:
    """The statistics of an SM with the load/store unit of the GPU."""
    unit = LoadStore(config, trace.program, FixedPath(config), lambda cycle, line: None)
    sm = Sm(config, trace, memory=unit)
    while not sm.finished:
        sm.step()
    assert sum(unit.waits.values()) == unit.counts.stall_cycles
    return collect(sm)


SETTINGS = [[], ["mshrs=2"], ["mshr_merges=1", "l1_sets=1", "l1_ways=1"], ["memory_interval=30", "mshrs=3"],
            ["affine=abm", "l1_latency=1", "memory_latency=1"],
            ["renaming=mem_ra", "tfet_rows=8", "sp.result_queue=2", "memory_interval=300"]]


@pytest.mark.parametrize("settings", SETTINGS, ids=" ".join)
@pytest.mark.parametrize("seed", range(3))
def test_the_fixed_path_gives_the_same_cycles_on_random_traces(seed: int, settings: list[str]) -> None:
    config = SmConfig().with_settings(settings)
    trace = random_trace(seed)
    assert dataclasses.asdict(cycle_by_cycle(config, trace)) == dataclasses.asdict(simulate(config, trace).statistics)


@pytest.mark.parametrize("settings", [["mshrs=2"], ["memory_interval=30", "mshr_merges=2"]], ids=" ".join)
@pytest.mark.parametrize("name", ["bfs", "histogram", "matmul"])
def test_the_fixed_path_gives_the_same_cycles_on_kernels(name: str, settings: list[str]) -> None:
    file = kernel(name).load("tiny")
    trace = Stream(compile_file(file.ptx, file.entry), file.launch)
    config = SmConfig.preset("fermi").with_settings(settings)
    assert dataclasses.asdict(cycle_by_cycle(config, trace)) == dataclasses.asdict(simulate(config, trace).statistics)


def test_a_line_that_hits_may_be_the_last_one_that_is_there() -> None:
    """Two lines are in the cache, and a load misses one before it hits them: memory is that fast."""
    load = {"op": Op.LD, "space": Space.GLOBAL, "access": Access.B32}
    trace = trace_of([Instruction(**load, dst=1), Instruction(op=Op.IADD, dst=2, src=(1, 1, 1)),
                      Instruction(**load, dst=3, src=(2, 2, 2))])
    trace.addresses[:2] = np.repeat(np.uint64([[0, 128], [256, 0]]), 16, axis=1)
    trace.addresses[1, 31] = 128
    config = SmConfig().with_settings(["memory_latency=1"])
    found = cycle_by_cycle(config, trace)
    assert (found.l1_misses, found.l1_hits) == (3, 2)
    assert found.cycles == simulate(config, trace).statistics.cycles


def test_each_cause_of_waiting_has_its_cycles() -> None:
    """With one MSHR the second line waits until the first one is there, and then for a path that takes nothing in the
    next ten cycles."""
    class Shut(FixedPath):
        @property
        def place(self) -> int:
            return free

        def takes(self, cycle: int, kind: Kind) -> bool:
            return cycle == taken or cycle >= free

    config = SmConfig().with_settings(["mshrs=1"])
    arrival = config.l1_latency + config.memory_latency
    taken = 3  # a block at 0, issue at 1, dispatch at 2
    free = taken + arrival + 10
    trace = trace_of([Instruction(op=Op.LD, dst=1, space=Space.GLOBAL, access=Access.B32)])
    trace.addresses[0] = np.repeat(np.uint64([0, 128]), 16)
    unit = LoadStore(config, trace.program, Shut(config), lambda cycle, line: None)
    sm = Sm(config, trace, memory=unit)
    while not sm.finished:
        sm.step()
    assert unit.waits == {Wait.MSHR: arrival - 1, Wait.MERGE: 0, Wait.PATH: 10}


@pytest.mark.parametrize(("op", "kind"), [(Op.ST, Kind.WRITE), (Op.RED, Kind.ATOMIC)])
def test_a_request_brings_the_sectors_that_are_touched(op: Op, kind: Kind) -> None:
    """The second and the fourth of a line; three of the next one, since the lane that has the other one is off."""
    sent = []

    class Seen(FixedPath):
        def send(self, cycle: int, kind: Kind, line: int, size: int) -> Request:
            sent.append((kind, line, size))
            return super().send(cycle, kind, line, size)

    config = SmConfig()
    access = {"access": Access.B32} if op is Op.ST else {"dst_type": DType.U32}
    trace = trace_of([Instruction(op=op, src=(1, RZ, 2), space=Space.GLOBAL, **access)], lanes=[0x7FFF_FFFF])
    trace.addresses[0] = [*range(32, 64, 4)] + [96] * 8 + [128, 160, 164, 252] * 3 + [128, 160, 252, 192]
    unit = LoadStore(config, trace.program, Seen(config), lambda cycle, line: None)
    sm = Sm(config, trace, memory=unit)
    while not sm.finished:
        sm.step()
    assert sent == [(kind, 0, 64), (kind, 1, 96)]
