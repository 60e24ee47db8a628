"""Sets of collectors by pipe (docs/contract/operands.md, *Collector sets*)."""

import pytest
from support.gated_runs import integers
from support.golden_traces import random_trace
from test_issue_ports import issue_of, store

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import Pipe
from warploom.arch.mechanisms.baseline import FAST, PORT_EACH, SETS_BY_PIPE, TWO_SP
from warploom.golden_model.front_end.decisions import NO_PORT, demand_of
from warploom.golden_model.front_end.stalls import READY, Stall
from warploom.golden_model.sm import Sm

SETS = {"collectors": 16, "sfu_collectors": 8, "mem_collectors": 2}


def sets_of(**fields: int) -> SmConfig:
    return SmConfig.preset("small").with_settings([f"{name}={value}" for name, value in fields.items()])


@pytest.mark.parametrize(("sfu", "mem", "sets", "served"), [
    (0, 0, [range(16)], (0, 0, 0)),
    (8, 0, [range(8), range(8, 16)], (0, 1, 0)),
    (0, 2, [range(14), range(14, 16)], (0, 0, 1)),
    (8, 2, [range(6), range(6, 14), range(14, 16)], (0, 1, 2)),
])
def test_a_pipe_has_its_set_or_the_general_one(
    sfu: int, mem: int, sets: list[range], served: tuple[int, ...]
) -> None:
    config = sets_of(collectors=16, sfu_collectors=sfu, mem_collectors=mem)
    assert list(config.collector_sets) == sets
    assert tuple(config.collector_set(kind) for kind in (Pipe.SP, Pipe.SFU, Pipe.MEM)) == served
    assert config.shows_claims == (sfu + mem > 0)


def test_one_collector_is_general() -> None:
    assert sets_of(collectors=3, sfu_collectors=1, mem_collectors=1).collector_sets[0] == range(1)
    with pytest.raises(ConfigError, match="collectors = 3, sfu_collectors = 1 and mem_collectors = 2 disagree"):
        sets_of(collectors=3, sfu_collectors=1, mem_collectors=2)


def test_a_window_has_no_sets() -> None:
    config = sets_of(**SETS).with_settings(["bypass=bow"])
    assert config.collector_sets == (range(config.warps),) and not config.shows_claims


def test_a_full_set_keeps_no_other_instruction_from_entering() -> None:
    """Four ports: slots 0, 1 and 3 need the general set, slot 2 that of SFU."""
    issue, decisions = issue_of(4, "collectors=4", "sfu_collectors=1")
    for slot in (0, 1, 3):
        issue.comes(slot, demand_of(0, 2), READY)
    for slot in (2, 6):
        issue.comes(slot, demand_of(1, 1), READY)
    for slot in (4, 5, 7):
        issue.comes(slot, demand_of(0, 1), Stall.WAR)
    assert issue.select(0, 9, store((1, 1)))[0] == [0, 2]
    assert issue.stalls.now == [Stall.COLLECTOR] * 2
    assert issue.select(1, 9, store((3, 0)))[0] == [1, 3, 0]
    assert issue.select(2, 9, store((0, 3)))[0] == [6]
    assert issue.select(3, 9, store((0, 0)))[0] == []
    decisions.apart = 1 << 1  # an address slot
    assert issue.select(0, 9, store((0, 0)))[0] == [1]
    issue.comes(3, NO_PORT, READY)
    assert issue.select(0, 9, store((0, 0)))[0] == [1, 3]


MECHANISMS = ("", "coalescing=on alignment=write gating=cross_lane", "affine=abm", "bypass=rfc",
              "coalescing=corf layout=wid", "affine=ab gating=in_lane")


@pytest.mark.parametrize("ports", [1, 2])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_collectors_hold_instructions_of_their_pipes(mechanism: str, ports: int) -> None:
    """Every operand is checked against the trace."""
    settings = [*mechanism.split(), "schedulers=2", f"issue_ports={ports}", *SETS_BY_PIPE, *FAST]
    config = SmConfig.preset("small").with_settings(settings)
    sm, used = Sm(config, integers(3), check=True), set()
    sm.step()
    while not sm.finished:
        collectors = sm.datapath.operands.collectors
        for number, numbers in enumerate(config.collector_sets):
            held = [collectors[index] for index in numbers if collectors[index].busy]
            assert all(config.collector_set(config.pipes[each.fields["pipe"]].kind) == number for each in held)
            used |= {each.index for each in held}
        sm.step()
    assert used == {0, 1, 3, 4}  # none is for SFU


def test_a_machine_with_sets_lets_loads_past_waiting_arithmetic() -> None:
    """With one general collector and a set of MEM a load enters while arithmetic has no collector."""
    config = SmConfig.preset("small").with_settings([*TWO_SP, *PORT_EACH, "issue_ports=2", "collectors=3",
                                                     "sfu_collectors=1", "mem_collectors=1"])
    sm, passed = Sm(config, random_trace(3, warps=8, length=80), check=True), 0
    sm.step()
    while not sm.finished:
        kinds = {config.pipes[fields["pipe"]].kind for fields in sm.inputs.issue if fields is not None}
        passed += not sm.datapath.operands.free_collectors[0] and Pipe.SP not in kinds and bool(kinds)
        sm.step()
    assert passed > 10
