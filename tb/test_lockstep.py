"""Every bundled kernel in lockstep, without and with coalescing and gating; and a difference is found and named."""

from pathlib import Path

import pytest
from amaranth import Module
from amaranth.lib import wiring

from rtl.arbiter import Arbiter
from rtl.datapath import Datapath
from tb.lockstep import Lockstep, LockstepError, lockstep
from warploom.arch.config import Gating, SmConfig
from warploom.kernels.library import kernel, kernels

ALL = [bundled.name for bundled in kernels()]

DIVERGENT = ["bfs", "hotspot", "reduction"]
"""Kernels in which some lanes write a register that others keep, narrow ones wider than before."""


@pytest.mark.rtl
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("preset", ["fermi", "small"])
def test_kernel(preset: str, name: str) -> None:
    _compare(SmConfig.preset(preset), name)


@pytest.mark.rtl
@pytest.mark.parametrize("name", ALL)
def test_coalescing_by_write(name: str) -> None:
    _compare(SmConfig.preset("small").with_settings(["layout=wid", "coalescing=on", "alignment=write"]), name)


@pytest.mark.rtl
@pytest.mark.parametrize("name", DIVERGENT)
def test_coalescing_by_register_number(name: str) -> None:
    _compare(SmConfig.preset("fermi").with_settings(["coalescing=on"]), name)


@pytest.mark.rtl
@pytest.mark.parametrize("coalescing", ["off", "on"])
def test_gating_changes_no_cycle(coalescing: str) -> None:
    config = SmConfig.preset("small").with_settings([f"coalescing={coalescing}"])
    runs = {gating: _compare(config.with_settings([f"gating={gating}"]), "hotspot") for gating in Gating}
    assert len({done.cycles for done in runs.values()}) == 1, runs


@pytest.mark.rtl
@pytest.mark.parametrize("name", ["bfs", "reduction"])
@pytest.mark.parametrize("coalescing", ["off", "on"])
def test_gating_across_lanes(coalescing: str, name: str) -> None:
    config = SmConfig.preset("small").with_settings([f"coalescing={coalescing}", "gating=cross_lane"])
    done = _compare(config, name)
    if name == "reduction":  # it adds zeros
        assert done.checks["outcomes"] > 0


def _compare(config: SmConfig, name: str) -> Lockstep:
    done = lockstep(config, kernel(name).load("tiny"))
    assert done.checks["cycles"] >= done.cycles > 1000
    assert done.registers > 0
    assert done.checks["writes"] > 1000
    return done


class _LazyArbiter(Arbiter):
    """A priority diagonal that never advances."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.sync += self.diagonal.eq(0)
        return m


def _lazy_datapath(config: SmConfig) -> wiring.Component:
    datapath = Datapath(config=config, probe=True)
    datapath.arbiter = _LazyArbiter(banks=config.banks, collectors=config.collectors)
    return datapath


@pytest.mark.mutation
def test_first_difference_is_named_with_its_waveform() -> None:
    config = SmConfig.preset("small")
    with pytest.raises(LockstepError, match=r"differ in cycle \d+ \(seed 1\): \w+ is 0x\w+ in hardware") as caught:
        lockstep(config, kernel("hotspot").load("tiny"), component=_lazy_datapath(config))
    waveform = Path(str(caught.value).rpartition(": ")[2])
    assert waveform.stat().st_size > 0
