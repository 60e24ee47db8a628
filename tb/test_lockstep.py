"""Every bundled kernel in lockstep, without and with coalescing, gating, windows and affine units; and the report of a
difference."""

import dataclasses
from pathlib import Path

import pytest
from amaranth import Module

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Settings, cores
from warploom.arch.mechanisms.baseline import SHARED
from warploom.kernels.launchfile import load
from warploom.kernels.library import kernel, kernels
from warploom.origin import ROOT
from warploom.rtl.arbiter import Arbiter
from warploom.tb.lockstep import Lockstep, LockstepError, lockstep, lockstep_all
from warploom.tb.mutants import miswired

on = pytest.mark.xdist_group
"""The core of `warploom.tb.test_datapath` that a test runs on: one worker has both."""

CORES = cores()

SLOW_CORES = ["slow rows", "slow rows two ports", "slow rows coalescing"]

ALL = [bundled.name for bundled in kernels()]

PROGRAMS = ROOT / "tests" / "ptx"

UNUSUAL = ["print", "symbols", "early"]
"""Launches of programs with features that no bundled kernel uses."""

TAPS_LOADED = 6 * 4 + 4
"""Uniform loads of `taps`: four taps for each warp, and the scale of its block for four warps. Other results of the
uniform unit are fewer than the taps."""

FIG_1_COMPACT = 8
"""Instructions of [AFFINE], Fig. 1(a), that execute once for the warp: `tests.test_worked_examples` names them."""

DIVERGENT = ["bfs", "hotspot", "reduction"]
"""Kernels with partial writes, also of narrow registers, which then become wider."""


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize(("preset", "name"), [
    *(pytest.param("small", name, marks=[on("baseline")] if name in DIVERGENT else [on("baseline"), pytest.mark.long])
      for name in ALL),
    *(pytest.param("narrow", name, marks=[on("narrow"), pytest.mark.long]) for name in DIVERGENT),
])
def test_kernel(preset: str, name: str, seed: int) -> None:
    _compare(SmConfig.preset(preset), name, seed)


@pytest.mark.rtl
def test_programs_beyond_the_bundled_kernels(seed: int) -> None:
    """Prints (whose text comes from the hardware's own stores), module variables that the launch sets, and threads that
    return before barriers."""
    for done in lockstep_all(SmConfig.preset("small"), [load(PROGRAMS / f"{name}.toml") for name in UNUSUAL], seed):
        assert done.checks["cycles"] >= done.cycles > 100
        assert min(done.registers, done.checks["writes"]) > 0


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("name", DIVERGENT)
def test_shared_pipes(name: str, seed: int) -> None:
    """Pipes of SP, SFU and MEM that two schedulers share, by one policy each."""
    _compare(SmConfig.preset("small").with_settings([*SHARED]), name, seed)


@pytest.mark.rtl
@pytest.mark.long
@on("kepler")
@pytest.mark.parametrize("name", ["vector_add", "reduction", "bfs"])
def test_kepler(name: str, seed: int) -> None:
    """Four schedulers that own a pipe of SP each and share seven pipes evenly, over eleven dispatch ports."""
    _compare(SmConfig.preset("kepler"), name, seed)


@pytest.mark.rtl
@pytest.mark.long
def test_a_pipe_of_sp_without_integers(seed: int) -> None:
    """One pipe has all integer classes, another one those of floats."""
    small = SmConfig.preset("small")
    sp, sfu, mem = small.pipes
    apart = [dataclasses.replace(sp, name=name, write_path=path, result_queue=2, classes={
        kind: timing for kind, timing in sp.classes.items() if kind.startswith(name)})
        for path, name in enumerate(("int", "fp"))]
    config = dataclasses.replace(small, pipes=(*apart, sfu, dataclasses.replace(mem, write_path=2)))
    assert lockstep(config, kernel("hotspot").load("tiny"), seed).cycles


@pytest.mark.rtl
@pytest.mark.long
def test_shared_pipes_with_affine_units(seed: int) -> None:
    """Attempts need no pipe; what they refuse, and what has generic operands, goes to pipes that are shared."""
    config = SmConfig.preset("small").with_settings([*SHARED, "affine=abm"])
    for done in lockstep_all(config, [kernel(name).load("tiny") for name in ("bfs", "reduction", "vector_add")], seed):
        assert done.checks["cycles"] >= done.cycles > 1000
        assert min(done.checks[kind] for kind in ("writes", "attempts", "accepted", "expansions")) > 0


@on("write")
@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_coalescing_by_write(name: str, seed: int) -> None:
    _compare(SmConfig.preset("small").with_settings([*CORES["write"]]), name, seed)


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("name", ["bfs", "hotspot"])
@pytest.mark.parametrize("core", [pytest.param(core, marks=on(core)) for core in SLOW_CORES])
def test_slow_rows(core: str, name: str, seed: int) -> None:
    _compare(SmConfig.preset("small").with_settings([*CORES[core]]), name, seed)


@on("reg")
@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("name", DIVERGENT)
def test_coalescing_by_register_number(name: str, seed: int) -> None:
    _compare(SmConfig.preset("small").with_settings([*CORES["reg"]]), name, seed)


@pytest.mark.rtl
@pytest.mark.parametrize(("switch", "kinds"), [
    pytest.param("on", ["off", "cross_lane"], marks=[on("cross_lane reg"), pytest.mark.long]),
    pytest.param("off", ["off", "active", "in_lane", "cross_lane"], marks=pytest.mark.long),
])
def test_gating_changes_no_cycle(switch: str, kinds: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"coalescing={switch}"])
    runs = {kind: _compare(config.with_settings([f"gating={kind}"]), "hotspot", seed) for kind in kinds}
    assert len({done.cycles for done in runs.values()}) == 1, runs


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("name", ["bfs", "reduction"])
@pytest.mark.parametrize("switch", [
    pytest.param("off", marks=on("cross_lane")), pytest.param("on", marks=on("cross_lane reg")),
])
def test_gating_across_lanes(switch: str, name: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"coalescing={switch}", "gating=cross_lane"])
    done = _compare(config, name, seed)
    if name == "reduction":  # it adds zeros
        assert done.checks["outcomes"] > 0


@pytest.mark.rtl
@pytest.mark.parametrize(("preset", "settings", "names"), [
    pytest.param("small", "bypass=bow entries=12 coalescing=off", ["vector_add"],
                 marks=[on("bow"), pytest.mark.long]),
    pytest.param("small", "bypass=bow_wr entries=6 coalescing=off", ["hotspot"],
                 marks=[on("bow_wr of 6"), pytest.mark.long]),
    pytest.param("small", "bypass=bow_wr entries=6 gating=in_lane coalescing=on", ["reduction", "bfs"],
                 marks=[on("bow_wr in_lane reg"), pytest.mark.long]),
    pytest.param("small", "bypass=bow_hints entries=6 coalescing=on", ["reduction", "bfs", "hotspot", "matmul"],
                 marks=[on("bow_hints reg"), pytest.mark.long]),
    pytest.param("small", "bypass=bow_hints entries=12 coalescing=off", ["matmul", "bfs"], marks=pytest.mark.long),
    pytest.param("small", "bypass=bow entries=6 coalescing=on", ["histogram"], marks=pytest.mark.long),
    pytest.param("small", "bypass=bow_wr entries=12 coalescing=on", ["pathfinder", "bfs"], marks=pytest.mark.long),
    pytest.param("pascal", "bypass=bow_hints entries=12", ["reduction"], marks=pytest.mark.long),  # 32 collectors
])
def test_windows(preset: str, settings: str, names: list[str], seed: int) -> None:
    """On `small`, every pair of a kind of window, a size and a register file. The runs that are not long share their
    builds with the random streams of `warploom.tb.test_datapath`."""
    config = SmConfig.preset(preset).with_settings(settings.split())
    for done in lockstep_all(config, [kernel(name).load("tiny") for name in names], seed):
        assert done.checks["cycles"] >= done.cycles > 1000
        assert done.registers > 0
        assert done.checks["writes"] > 100
        if config.writes_back:
            assert done.checks["evictions"] > 0


@pytest.mark.rtl
@pytest.mark.parametrize(("settings", "names"), [
    pytest.param(("affine=a",), ["vector_add", "reduction"], marks=[on("a"), pytest.mark.long]),
    pytest.param(CORES["abm"], ["histogram", "bfs"], marks=[on("abm"), pytest.mark.long]),
    pytest.param(CORES["abm cross_lane write"], ["reduction", "hotspot"],
                 marks=[on("abm cross_lane write"), pytest.mark.long]),
    pytest.param(CORES["abm bow_hints cross_lane reg"], ["vector_add", "pathfinder"],
                 marks=on("abm bow_hints cross_lane reg")),
    pytest.param((*CORES["abm bow_hints cross_lane reg"], "affine=ab"), ["reduction"],  # the same hardware
                 marks=[on("abm bow_hints cross_lane reg"), pytest.mark.long]),
])
def test_affine_unit(settings: Settings, names: list[str], seed: int) -> None:
    """Kernels with parallel and with divergent warps, and programs that use the uniform unit."""
    config = SmConfig.preset("small").with_settings([*settings])
    programs = [load(path) for path in sorted(PROGRAMS.glob("scaling_*.toml"))] + [load(PROGRAMS / "taps.toml")]
    found = lockstep_all(config, [*programs, *(kernel(name).load("tiny") for name in names)], seed)
    for done in found:
        assert done.checks["cycles"] >= done.cycles > 100
        assert done.registers > 0
        assert min(done.checks[kind] for kind in ("writes", "attempts", "accepted")) > 0
    assert found[len(programs) - 1].checks["uniform_answers"] >= TAPS_LOADED
    for done in found[: len(programs)]:
        assert min(done.checks["uniform_answers"], done.checks["expansions"]) > 0
    for done in found[len(programs) :]:
        assert done.checks["attempts"] > 400
        assert done.checks["expansions"] > 0


@on("abm")
@pytest.mark.rtl
@pytest.mark.long
def test_002_fig_1(seed: int) -> None:
    """No register is written under divergence, for no, some or all threads above the threshold."""
    config = SmConfig.preset("small").with_settings([*CORES["abm"]])
    for done in lockstep_all(config, [load(path) for path in sorted(PROGRAMS.glob("threshold_*.toml"))], seed):
        assert (done.checks["accepted"], done.checks["expansions"]) == (FIG_1_COMPACT, 0)


def _compare(config: SmConfig, name: str, seed: int) -> Lockstep:
    done = lockstep(config, kernel(name).load("tiny"), seed)
    assert done.checks["cycles"] >= done.cycles > 1000
    assert done.registers > 0
    assert done.checks["writes"] > 1000
    return done


def _lazy(arbiter: Arbiter, m: Module) -> None:
    """The priority diagonal never advances."""
    m.d.sync += arbiter.diagonal.eq(0)


@pytest.mark.mutation
def test_first_difference_is_named_with_its_waveform(seed: int) -> None:
    config = SmConfig.preset("small")
    lazy = miswired("register_file.banks.access.arbiter", _lazy)(config)
    message = rf"differ in cycle \d+ \(seed {seed}\): \w+ is 0x\w+ in hardware"
    with pytest.raises(LockstepError, match=message) as caught:
        lockstep(config, kernel("hotspot").load("tiny"), seed, component=lazy)
    waveform = Path(str(caught.value).rpartition(": ")[2])
    assert waveform.stat().st_size > 0
