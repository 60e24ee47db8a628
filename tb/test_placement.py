"""Bench of the placer: hardware against `warploom.golden_model.placement`."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import issue_fields
from warploom.arch.layout import rows_per_warp
from warploom.golden_model.placement import Placement
from warploom.rtl.interfaces import SOURCES
from warploom.tb import runner
from warploom.tb.addresses import shown
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

CYCLES = 2000


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Random registers of random warps, for kernels of every size."""
    rng, config = source(), ports.config
    for _ in range(CYCLES):
        registers = rng.randint(1, config.rows * config.banks // config.warps)
        fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(config)}
        fields |= {name: rng.randrange(registers) for name in (*SOURCES, "dst")} | {"warp": rng.randrange(config.warps)}
        yield {"issue": fields, "stride": rows_per_warp(config, registers)}


class PlacerCheck:
    """Every address equals that of the layout, which fits the banks."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._config, self._codecs, self._checker, self._coverage = ports.config, ports.codecs, checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        addresses = Placement(self._config, seen["stride"])
        issue = self._codecs["issue"].unpack(seen["issue"])
        sources = self._codecs["source"].unpack(seen["source"])
        actual = [*sources.values(), self._codecs["destination"].unpack(seen["destination"])]
        for name, address in zip((*SOURCES, "dst"), actual, strict=True):
            expected = addresses[issue["warp"] << 8 | issue[name]]
            self._checker.equal(name, address, shown(self._config, expected))
            self._coverage.hit("last bank", address["bank"] == self._config.banks - 1)
            self._coverage.hit("upper rows", address["row"] >= self._config.rows // 2)


@cocotb.test()
async def random_registers(dut: cocotb.handle.SimHandleBase) -> None:
    """Random registers of random warps."""
    ports, checker, coverage = Ports(dut), Checker(minimum=4 * CYCLES), Coverage("last bank", "upper rows")
    await exercise(ports, stimuli(ports), PlacerCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    ["layout=wid", "gating=in_lane", "schedulers=4", "issue_ports=4"], ["layout=wid"], ["layout=wshift"],
    ["layout=wshift", "coalescing=on", "schedulers=2", "issue_ports=2"],
    ["layout=wid", "coalescing=on", "alignment=reg"], ["layout=wshift", "coalescing=on", "alignment=write"],
], ids=" ".join)
def test_placement(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(settings)
    runner.run(runner.build(config, "Placer"), "warploom.tb.test_placement", seed)
