"""Several pipes of SP, dispatch ports and result queues in the golden model (docs/contract/pipes.md)."""

import random

import pytest
from support.golden_traces import random_trace

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe, TimingClass
from warploom.golden_model.dispatch import Dispatcher, OldestFirst
from warploom.golden_model.sm import Sm
from warploom.tb.pipes import HALF_LANES, PATH_EACH, PORTS, TWO_SP

MECHANISMS = (
    [], ["coalescing=on", "alignment=write"], ["gating=active"], ["bypass=bow"], ["bypass=bow_hints", "coalescing=on"],
)


@pytest.mark.sample(10)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=" ".join)
@pytest.mark.parametrize("lanes", [(), HALF_LANES], ids=["32 lanes", "16 lanes"])
@pytest.mark.parametrize("ports", PORTS)
def test_both_pipes_compute(ports: str, lanes: tuple[str, ...], mechanism: list[str]) -> None:
    """Operands and results are those of functional execution, in both pipes."""
    config = SmConfig.preset("small").with_settings([*mechanism, *TWO_SP, *PORTS[ports], *lanes])
    sm, together, writers = Sm(config, random_trace(3, warps=8, length=80), check=True), 0, set()
    sm.step()
    while not sm.finished:
        datapath = sm.datapath
        sent = [fields for fields in datapath.dispatch if fields is not None]
        together += len(sent) > 1
        for fields in sent:
            assert config.serving(TimingClass(fields["timing"]), fields["warp"]) == (fields["pipe"],)
        writers |= {write.writer for write in datapath.writes()}
        sm.step()
    assert (together > 0) == (len(PORTS[ports]) > 0)
    assert {"sp", "sp2"} <= writers


@pytest.mark.parametrize("queue", [1, 2, 4])
@pytest.mark.parametrize("paths", [TWO_SP, PATH_EACH], ids=["two paths", "three paths"])
def test_no_result_finds_its_queue_full(paths: tuple[str, ...], queue: int) -> None:
    """An instruction is dispatched whenever the rule allows it, and the latch of SP is granted in its turn only: the
    queue fills up, and never overflows."""
    config = SmConfig.preset("small").with_settings([*paths, f"sp.result_queue={queue}"])
    dispatcher, rng = Dispatcher(config, OldestFirst()), random.Random(7)
    classes = config.pipes[0].timing_classes
    due: list[int] = []  # cycles in which results come
    waiting, held, longest = 0, False, 0
    for cycle in range(20_000):
        if rng.random() < 0.01:  # a pause, so that the queue becomes empty
            classes = rng.sample(config.pipes[0].timing_classes, rng.randint(1, 8))
        timing = rng.choice(classes)
        slots = dispatcher.slots
        if dispatcher.has_slot(0, timing) and cycle % 400 < 350:
            latency = config.pipes[0].timing_of(timing).latency
            slots[0] |= 1 << latency
            due.append(cycle + latency)
        waiting += cycle in due
        due = [later for later in due if later > cycle]
        held = held and cycle % config.rotating_paths != 0
        if waiting and not held:
            waiting, held = waiting - 1, True
        assert waiting <= queue
        longest = max(longest, waiting)
        dispatcher.queued = [waiting, 0, 0, 0]
        dispatcher.advance()
    assert longest >= queue - 1


def test_with_one_path_the_queue_is_never_used() -> None:
    plain = SmConfig.preset("small")
    queued, found = plain.with_settings(["sp.result_queue=1"]), []
    for config in (plain, queued):
        sm = Sm(config, random_trace(5, warps=8, length=100))
        sm.step()
        while not sm.finished:
            assert sm.datapath.queues.empty
            sm.step()
        found.append(sm.cycle)
    assert found[0] == found[1]
    assert queued.numbers(Pipe.SP) == (0,)
