"""Several issue ports: claims, the order of taken instructions, and metadata tables divided among the ports."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.gated_runs import integers
from support.golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import Instruction, Op
from warploom.arch.layout import (
    address,
    metadata_address,
    metadata_banks,
    metadata_rows,
    resident_warps,
    rows_per_warp,
)
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.front_end.decisions import NO_PORT
from warploom.golden_model.front_end.issue import Issue
from warploom.golden_model.front_end.stalls import READY, Stall
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace

ONE_REGISTER = Instruction(op=Op.MOV, dst=1, imm_slot=0, imm=300)


class Open:
    """Decisions that refuse nothing; `apart` are the slots whose instruction needs no collector."""

    apart = 0

    def free_entries(self, free: tuple[int, ...]) -> tuple[int, ...]:
        """See `Decisions`."""
        return tuple(mask | self.apart for mask in free)


def store(collectors: Sequence[int]) -> Any:
    """An operand store with so many free collectors of each set, for any instruction."""
    return SimpleNamespace(free_collectors=collectors, free=(-1,) * 4)


def issue_of(ports: int, *settings: str) -> tuple[Any, Open]:
    """An issue stage of four schedulers with two warps each, all of which may issue into the datapath; here warps are
    their slots."""
    decisions = Open()
    config = SmConfig().with_settings(["warps=8", "schedulers=4", f"issue_ports={ports}", "scheduler=lrr", *settings])
    issue = Issue(config, decisions, warps=range(8))  # type: ignore[arg-type]
    for slot in range(8):
        issue.joined(slot, 0)
        issue.comes(slot, 2, READY)
    return issue, decisions


# ---------------------------------------------------------------------- configuration, metadata


@pytest.mark.parametrize(("settings", "message"), [
    (["issue_ports=3"], "issue_ports = 3: must be a power of two"),
    (["issue_ports=8"], "issue_ports = 8: must be a whole number from 1 to 4"),
    (["issue_ports=4"], "schedulers = 2 and issue_ports = 4 disagree: every issue port serves the same number"),
    (["schedulers=3", "issue_ports=2"], "schedulers = 3 and issue_ports = 2 disagree: every issue port serves"),
])
def test_ports_divide_the_schedulers(settings: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SmConfig().with_settings(settings)


@given(st.sampled_from(["wid", "wshift"]), st.sampled_from([1, 2, 4, 8]), st.sampled_from([64, 128, 256]),
       st.sampled_from([1, 2, 4]), st.integers(1, 255))
def test_each_register_has_its_own_entry_in_the_group_of_its_port(
    layout: str, banks: int, rows: int, ports: int, registers: int
) -> None:
    settings = [f"layout={layout}", f"banks={banks}", f"rows={rows}", "schedulers=4", f"issue_ports={ports}"]
    config = SmConfig().with_settings(settings)
    stride, found = rows_per_warp(config, registers), set()
    for warp in range(resident_warps(config, registers)):
        for register in range(registers):
            bank, row = address(config, stride, warp, register)
            group, entry = metadata_address(config, stride, warp, register)
            assert group == warp % ports and entry < metadata_rows(config)
            assert ports > 1 or entry == row
            found.add((bank, group, entry))
    assert len(found) == resident_warps(config, registers) * registers
    assert len({bank for bank, group, _ in found if group == 0}) <= metadata_banks(config)


def test_parts_are_no_longer_than_their_share_needs() -> None:
    narrow = [SmConfig().with_settings([f"issue_ports={ports}"]) for ports in (1, 2)]
    assert [metadata_rows(config) for config in narrow] == [256, 153]
    assert [metadata_rows(config.with_settings(["layout=wid"])) for config in narrow] == [256, 256]
    assert [metadata_banks(config.with_settings(["layout=wid"])) for config in narrow] == [4, 2]


# ---------------------------------------------------------------------- claims


def test_each_port_takes_one_and_what_a_scheduler_leaves_passes_on() -> None:
    issue, _ = issue_of(2)
    assert issue.select(0, 9, store((9,)))[0] == [0, 1]  # schedulers 2 and 3 find their ports taken
    assert issue.stalls.now == [Stall.PORT] * 2
    assert issue.select(1, 9, store((9,)))[0] == [1 + 4, 2]
    for slot in (2, 6):
        issue.comes(slot, 2, Stall.WAR)
    assert issue.select(2, 9, store((9,)))[0] == [3, 4]  # scheduler 0 gets the port that scheduler 2 leaves
    assert issue.stalls.now == [Stall.WAR, Stall.PORT]


def test_as_many_instructions_enter_as_there_are_collectors_and_tags() -> None:
    issue, _ = issue_of(4)
    assert issue.select(3, 9, store((3,)))[0] == [3, 0, 1]
    assert issue.stalls.now == [Stall.COLLECTOR]
    assert issue.select(2, 2, store((9,)))[0] == [2, 3 + 4]
    assert issue.stalls.now == [Stall.COLLECTOR] * 2


@given(st.sampled_from([1, 2, 4]), st.integers(0, 255), st.integers(0, 2), st.integers(0, 2), st.integers(0, 9))
def test_what_is_claimed_never_keeps_a_scheduler_waiting_in_its_turn(
    ports: int, ready: int, collectors: int, tags: int, cycle: int
) -> None:
    """The first one issues whenever a warp may, and a collector and a tag are left; each is first in its turn."""
    issue, _ = issue_of(ports)
    for slot in range(8):
        if not ready >> slot & 1:
            issue.comes(slot, 2, Stall.WAR)
    able = {slot for slot in (cycle % 4, cycle % 4 + 4) if ready >> slot & 1} if collectors and tags else set()
    picked, _ = issue.select(cycle, tags, store((collectors,)))
    assert able & {*picked[:1]} or not able
    assert len(picked) <= min(ports, collectors, tags)


def test_what_needs_no_collector_or_no_port_issues_beside() -> None:
    issue, decisions = issue_of(4)
    decisions.apart = 1 << 2 | 1 << 6
    for slot in (3, 7):
        issue.comes(slot, NO_PORT, READY)
    assert issue.select(0, 9, store((1,)))[0] == [0, 2, 3]
    assert issue.stalls.now == [Stall.COLLECTOR]


# ---------------------------------------------------------------------- the whole SM


def entering(config: SmConfig, trace: Trace) -> Iterator[tuple[Sm, list[Mapping[str, int]]]]:
    """Each cycle of a run, with the instructions that enter, in claim order, after checking the contract's rules."""
    sm = Sm(config, trace, check=True)
    while True:
        sm.step()
        if sm.finished:
            return
        first, issue = sm.inputs.first_port, sm.inputs.issue
        entering = [fields for fields in [*issue[first:], *issue[:first]] if fields is not None]
        assert all(fields["warp"] % len(issue) == port for port, fields in enumerate(issue) if fields is not None)
        tags = [fields["tag"] for fields in entering]
        assert all((later - tag) % 1024 < 512 for tag, later in pairwise(tags))
        assert config.has_address_slot or len(entering) <= sum(sm.datapath.operands.free_collectors)
        assert not entering or first == sm.cycle % config.issue_ports
        yield sm, entering


MECHANISMS = ("", "coalescing=on alignment=write", "gating=cross_lane", "coalescing=on gating=in_lane", "bypass=bow",
              "bypass=bow_hints gating=in_lane", "affine=abm", "affine=abm coalescing=on gating=cross_lane",
              "affine=abm bypass=bow_wr", "bypass=rfc", "coalescing=corf layout=wid")


@pytest.mark.parametrize("ports", [2, 4])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_values_are_right_with_several_ports(mechanism: str, ports: int) -> None:
    """Every operand is checked against the trace; collectors take instructions in claim order."""
    settings = [*mechanism.split(), "schedulers=4", f"issue_ports={ports}", "collectors=6"]
    config = SmConfig.preset("small").with_settings(settings)
    most = 0
    for _, taken in entering(config, integers(3)):
        most = max(most, len(taken))
    assert most > 1


def test_free_collectors_are_taken_in_claim_order() -> None:
    config = SmConfig.preset("small").with_settings(["schedulers=4", "issue_ports=4", "collectors=4"])
    expected: dict[int, int] = {}
    several = 0
    for sm, taken in entering(config, trace_of([ONE_REGISTER] * 20, warps=8)):
        holders = {collector.fields["tag"]: collector.index for collector in sm.datapath.operands.collectors
                   if collector.busy}
        assert all(holders[tag] == collector for tag, collector in expected.items())
        free = [collector.index for collector in sm.datapath.operands.collectors if not collector.busy]
        expected = dict(zip([fields["tag"] for fields in taken], free, strict=False))
        several += len(taken) > 1 and sm.inputs.first_port > 0
    assert several


def test_each_port_has_an_address_slot_of_its_own() -> None:
    """Two loads that read no register are taken in one cycle."""
    config = SmConfig.preset("small").with_settings(["affine=abm", "schedulers=2", "issue_ports=2"])
    load = Instruction(op=Op.LD, dst=1, space=Space.GLOBAL, access=Access.B32)
    sm, ready = Sm(config, trace_of([load], warps=2)), []
    for _ in range(3):
        sm.step()
        ready.append((len(sm.issuing), sm.datapath.operands.address_ready))
    assert ready == [(0, 0b11), (2, 0b11), (2, 0)]  # EXIT issues in the cycle after
