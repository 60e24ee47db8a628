"""The long regression: its coverage, and that gating may not change a cycle."""

import dataclasses
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from warploom.arch.config import SmConfig, presets
from warploom.arch.mechanisms import Bypass, Coalescing, Gating
from warploom.cli import main
from warploom.kernels.launchfile import LaunchFile
from warploom.kernels.library import kernels
from warploom.tb import regress
from warploom.tb.lockstep import Lockstep
from warploom.tb.regress import Case, Outcome, cases, disagreements

CONFIG = SmConfig.preset("small")


@pytest.mark.sample(3)
@pytest.mark.parametrize("preset", presets())
def test_every_kernel_runs_once_under_every_setting(preset: str) -> None:
    config = SmConfig.preset(preset)
    found = Counter(cases(config))
    assert set(found.values()) == {1}
    cores = [dataclasses.replace(config, coalescing=coalescing) for coalescing in (Coalescing.OFF, Coalescing.ON)]
    for core, gating, bundled in product((*cores, SmConfig.preset("maxwell")), Gating, kernels()):
        assert Case(dataclasses.replace(core, gating=gating), bundled.name, "tiny") in found
    for layout, bundled in product(("wid", "wshift"), kernels()):
        assert Case(config.with_settings([f"layout={layout}", "scheduler=gto"]), bundled.name, "tiny") in found


@pytest.mark.sample(3)
@pytest.mark.parametrize("preset", presets())
def test_every_kernel_runs_once_with_every_kind_of_window(preset: str) -> None:
    config = SmConfig.preset(preset)
    found = set(cases(config))
    windows = (Bypass.BOW, Bypass.BOW_WR, Bypass.BOW_HINTS)
    for bypass, entries, coalescing, bundled in product(windows, (12, 6), ("off", "on"), kernels()):
        settings = [f"bypass={bypass}", f"entries={entries}", f"coalescing={coalescing}"]
        assert Case(CONFIG.with_settings(settings), bundled.name, "tiny") in found
    for bypass, bundled in product(windows, kernels()):
        assert Case(SmConfig.preset("pascal").with_settings([f"bypass={bypass}"]), bundled.name, "tiny") in found
    for gating, bundled in product(Gating, kernels()):
        settings = ["bypass=bow_hints", f"gating={gating}"]
        assert Case(SmConfig.preset("maxwell").with_settings(settings), bundled.name, "tiny") in found


@pytest.mark.sample(3)
@pytest.mark.parametrize("preset", presets())
def test_every_kernel_runs_once_with_every_kind_of_affine_unit(preset: str) -> None:
    found = Counter(cases(SmConfig.preset(preset)))
    beside = ["", "coalescing=on", "gating=cross_lane", "bypass=bow_hints",
              "coalescing=on gating=cross_lane bypass=bow_hints"]
    settings = [["affine=a"], ["affine=ab"], *(["affine=abm", *others.split()] for others in beside)]
    wanted = [*(CONFIG.with_settings(own) for own in settings), SmConfig.preset("narrow").with_settings(["affine=abm"])]
    for config, bundled in product(wanted, kernels()):
        assert found[Case(config, bundled.name, "tiny")] == 1


def test_cases_do_not_depend_on_what_they_vary() -> None:
    assert list(cases(CONFIG.with_settings(["coalescing=on", "gating=in_lane", "affine=a"]))) == list(cases(CONFIG))


def _outcome(cycles: int, *settings: str, kernel: str = "bfs", failure: str | None = None) -> Outcome:
    return Outcome(Case(CONFIG.with_settings(list(settings)), kernel, "tiny"), cycles, 1, 1.0, False, failure=failure)


def test_gating_that_changes_cycles_is_named() -> None:
    line, = disagreements([
        _outcome(100), _outcome(100, "gating=active"), _outcome(101, "gating=cross_lane"), _outcome(9, kernel="matmul"),
    ])
    assert line.startswith("bfs (tiny; small, wshift, lrr, no coalescing, no gating, no bypassing, no affine unit): ")
    assert line.endswith("cycles differ with gating: off 100, active 100, cross_lane 101")


def test_gating_is_compared_with_the_same_window() -> None:
    half = ("bypass=bow", "entries=6")
    line, = disagreements([
        _outcome(100), _outcome(90, *half), _outcome(91, *half, "gating=active"), _outcome(80, "bypass=bow"),
        _outcome(80, "bypass=bow", "gating=active"),
    ])
    assert "no gating, bow of 3 in 6, no affine unit): cycles differ with gating: off 90, active 91" in line


def test_other_settings_may_change_cycles() -> None:
    assert not disagreements([
        _outcome(100), _outcome(100, "gating=active"), _outcome(90, "coalescing=on"), _outcome(110, "scheduler=gto"),
        _outcome(90, "coalescing=on", "gating=in_lane"), _outcome(0, "gating=in_lane", failure="differs"),
    ])


# ------------------------------------------------------------------ seeds

REPLAY = "After an interruption, or to run the same again: warploom regress --preset small --set rows=64 --seed "


def _regress(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[str, list[str]]:
    """The base that a regression prints at its start, and the lines of its cases."""
    assert main(["regress", "--preset", "small", "--set", "rows=64", *options]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith(REPLAY)
    return first.removeprefix(REPLAY), [line for line in lines if line.startswith("vector_add (tiny; ")]


def test_a_regression_has_a_new_seed_and_goes_on_with_an_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds: list[int] = []

    def lockstep(config: SmConfig, file: LaunchFile, seed: int, *, replay: bool) -> Lockstep:
        seeds.append(seed)
        return Lockstep(config.name, str(file.path), seed, 1000, 100, 1, {}, 0.5, by="replay")

    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(regress, "lockstep", lockstep)
    monkeypatch.setattr(regress, "cases", lambda config: [Case(config, "vector_add", "tiny"),
                                                          Case(SmConfig.preset("narrow"), "vector_add", "tiny")])
    base, lines = _regress(capsys)
    assert [line.endswith(": equal, by replay") for line in lines] == [True, True]
    assert len(set(seeds)) == 2, "each case has its own"
    again, lines = _regress(capsys, "--seed", base)
    assert again == base
    assert [line.endswith(": equal, as before, by replay") for line in lines] == [True, True]
    other, lines = _regress(capsys)
    assert other != base
    assert [line.endswith(": equal, by replay") for line in lines] == [True, True]
    assert len(set(seeds)) == 4
