"""The long regression: what it covers, and that gating may not change a cycle."""

import dataclasses
from itertools import product

import pytest

from tb.regress import Case, Outcome, cases, disagreements
from warploom.arch.config import Coalescing, Gating, SmConfig, presets
from warploom.kernels.library import kernels

CONFIG = SmConfig.preset("small")


@pytest.mark.parametrize("preset", presets())
def test_every_kernel_runs_once_under_every_setting(preset: str) -> None:
    config = SmConfig.preset(preset)
    found = list(cases(config))
    assert len(set(found)) == len(found)
    cores = [dataclasses.replace(config, coalescing=coalescing) for coalescing in (Coalescing.OFF, Coalescing.ON)]
    for core, gating, bundled in product((*cores, SmConfig.preset("maxwell")), Gating, kernels()):
        assert Case(dataclasses.replace(core, gating=gating), bundled.name, "tiny") in found
    for layout, bundled in product(("wid", "wshift"), kernels()):
        assert Case(config.with_settings([f"layout={layout}", "scheduler=gto"]), bundled.name, "tiny") in found


def test_cases_do_not_depend_on_what_they_vary() -> None:
    assert list(cases(CONFIG.with_settings(["coalescing=on", "gating=in_lane"]))) == list(cases(CONFIG))


def _outcome(cycles: int, *settings: str, kernel: str = "bfs", failure: str | None = None) -> Outcome:
    return Outcome(Case(CONFIG.with_settings(list(settings)), kernel, "tiny"), cycles, 1, 1.0, False, failure)


def test_gating_that_changes_cycles_is_named() -> None:
    line, = disagreements([
        _outcome(100), _outcome(100, "gating=active"), _outcome(101, "gating=cross_lane"), _outcome(9, kernel="matmul"),
    ])  # fmt: skip
    assert line.startswith("bfs (tiny; small, wshift, lrr, no coalescing, no gating): cycles differ with gating: ")
    assert line.endswith("off 100, active 100, cross_lane 101")


def test_other_settings_may_change_cycles() -> None:
    assert not disagreements([
        _outcome(100), _outcome(100, "gating=active"), _outcome(90, "coalescing=on"), _outcome(110, "scheduler=gto"),
        _outcome(90, "coalescing=on", "gating=in_lane"), _outcome(0, "gating=in_lane", failure="differs"),
    ])  # fmt: skip
