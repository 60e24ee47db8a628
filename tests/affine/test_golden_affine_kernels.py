"""The golden SM with an affine unit (docs/contract/affine.md): random streams and whole kernels."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from support.affine_runs import checked, config
from support.gated_runs import cycles, integers

from warploom.arch.compact import ATTEMPT_CYCLES
from warploom.arch.config import SmConfig
from warploom.arch.fields import pack
from warploom.arch.interfaces import attempt_fields, issue_fields
from warploom.compiler.compile import compile_file
from warploom.compiler.writeback_hints import annotate
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.observation import shown_by
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect
from warploom.golden_model.trace import Trace
from warploom.kernels.library import kernel, kernels
from warploom.tb.recording import probe_of

# ---------------------------------------------------------------------- properties

COMBINATIONS: list[Sequence[str]] = [
    (), ("coalescing=on",), ("coalescing=on", "alignment=write"), ("gating=active",), ("gating=in_lane",),
    ("gating=cross_lane",), ("coalescing=on", "gating=in_lane"), ("coalescing=on", "gating=cross_lane"),
    ("bypass=bow",), ("bypass=bow_wr", "entries=4"), ("bypass=bow_hints",), ("bypass=bow_wr", "gating=cross_lane"),
    ("bypass=bow_hints", "coalescing=on"), ("bypass=bow_hints", "coalescing=on", "gating=in_lane"),
]


@pytest.mark.sample(10)
@pytest.mark.parametrize("affine", ["ab", "abm"])
@pytest.mark.parametrize("settings", COMBINATIONS, ids=" ".join)
def test_no_value_is_lost(settings: list[str], affine: str) -> None:
    """Integer operations under masks of all kinds, so that registers expand and become compact again."""
    setting = config(affine, *settings)
    for seed in range(2):
        run = checked(setting, integers(seed))
        assert run.statistics.counted["affine"]["expansions"] > 10 and run.statistics.counted["affine"]["accepted"] > 10


@pytest.mark.parametrize("settings", COMBINATIONS[::5], ids=" ".join)
def test_skipping_quiet_cycles_changes_nothing(settings: list[str]) -> None:
    setting = config("abm", *settings, preset="narrow")
    trace = integers(7)
    patient = Sm(setting, trace)
    while not patient.finished:
        patient.step()
    assert collect(patient) == simulate(setting, trace).statistics


def test_what_is_shown_fits_the_ports() -> None:
    setting = config("abm", "schedulers=2", "gating=in_lane")
    sm, attempts = Sm(setting, integers(5)), 0
    port = probe_of(setting, sm)
    for datapath in cycles(sm):
        assert port.unpack(port.pack(datapath.observe())) == shown_by(datapath)
        if sm.inputs.issue:
            pack(issue_fields(setting), sm.inputs.issue[0])
        assert len(sm.inputs.attempts) == setting.schedulers
        for number, attempt in enumerate(sm.inputs.attempts):
            if attempt is not None:
                pack(attempt_fields(setting), attempt)
                assert attempt["warp"] % setting.schedulers == number
                attempts += 1
    assert sm.decisions.counts is not None and attempts == sm.decisions.counts.attempts > 10


# ---------------------------------------------------------------------- kernels


@cache
def traced(name: str, window: int = 0) -> Trace:
    """A kernel of the smallest size, with hints for a window."""
    found = kernel(name)
    program = compile_file(found.ptx)
    if window:
        program = annotate(program, window)
    trace = execute(program, found.load("tiny").launch).trace
    assert trace is not None
    return trace


@pytest.mark.sample(4)
@pytest.mark.parametrize("affine", ["a", "ab", "abm"])
@pytest.mark.parametrize("name", [
    pytest.param(k.name, marks=[] if k.name in ("bfs", "hotspot", "matmul") else pytest.mark.long) for k in kernels()
])
def test_kernels(name: str, affine: str) -> None:
    setting, trace = config(affine), traced(name)
    run = checked(setting, trace)
    found, counts = run.statistics, run.statistics.counted["affine"]
    before = simulate(replace(setting, affine="off"), trace).statistics
    assert counts["attempts"] == counts["accepted"] + counts["refused"] + counts["squashed"] + counts["suppressed"]
    assert counts["squashed"] <= ATTEMPT_CYCLES * counts["refused"]
    assert counts["accepted"] > found.warp_instructions // 10 and counts["refused"] < counts["accepted"] // 10
    assert found.datapath_instructions == before.datapath_instructions - counts["accepted"] + counts["expansions"]
    assert sum(found.bank_reads) == sum(k * n for k, n in enumerate(found.operands)) < sum(before.bank_reads)
    assert sum(found.bank_writes) == sum(before.bank_writes) - counts["compact_writes"] + counts["expansions"]
    assert counts["resolved"] <= counts["compares"] and (counts["resolved"] > 0) <= (affine != "a")
    assert counts["vector_requests"] <= counts["affine_loads"] <= counts["loads"]
    assert affine == "abm" or counts["vector_requests"] == 0
    again = ("refused", "squashed", "suppressed", "expansions")  # instructions issue once more
    issues = found.warp_instructions + sum(counts[name] for name in again)
    assert issues + sum(found.stalls.values()) == found.cycles * setting.schedulers


def outcomes(setting: SmConfig, trace: Trace) -> dict[str, Any]:
    """The counts of a run, without squashed attempts and what they read, which depend on when the warps issue."""
    counts = checked(setting, trace).statistics.counted["affine"]
    return {name: value for name, value in counts.items() if name not in ("attempts", "squashed", "compact_reads")}


@cache
def usual_outcomes(name: str) -> dict[str, Any]:
    """The outcomes of a kernel without any other mechanism."""
    return outcomes(config("abm"), traced(name))


def test_a_kernel_on_a_whole_sm() -> None:
    setting = config("abm", preset="narrow")
    assert outcomes(setting, traced("pathfinder")) == usual_outcomes("pathfinder")


@pytest.mark.sample(2)
@pytest.mark.parametrize("settings", [
    ("coalescing=on", "gating=cross_lane"), ("gating=in_lane",), ("bypass=bow_hints", "window=7", "coalescing=on"),
    ("bypass=bow_wr", "gating=cross_lane"), ("bypass=bow", "entries=4")], ids=" ".join)
def test_kernels_on_other_register_files(settings: list[str]) -> None:
    """The outcome of instructions does not depend on the register file."""
    setting = config("abm", *settings)
    for name in ("bfs", "pathfinder"):
        trace = traced(name, setting.window if setting.bypass.has_hints else 0)
        assert outcomes(setting, trace) == usual_outcomes(name)
