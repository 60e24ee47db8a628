"""Verilog and ports of units. The only part of the runner that needs Amaranth: simulations, which import benches with
their runner, do not load it.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any, NamedTuple

from amaranth.lib import wiring

from warploom import store
from warploom.arch.config import SmConfig
from warploom.rtl import verilog
from warploom.rtl.emit import WAIVERS
from warploom.rtl.shared import module_name
from warploom.store import Key, Kind
from warploom.tb.toolchain import versions, writers

WAIVED = [f"-Wno-{name}" for name in WAIVERS]
"""Verilator's options for the warnings that the waiver file of the Verilog lists."""


class Design(NamedTuple):
    """A module's name, Verilog and ports, in the format of `warploom.rtl.verilog.ports`."""

    module: str
    text: str
    ports: list[dict[str, Any]]


def design(
    config: SmConfig, unit: str, component: wiring.Component | None, *, fpga: bool = False,
) -> Design:
    """The design of a component, with `fpga` as for an FPGA, or else of a unit: cached as long as the sources of the
    hardware do not change."""
    module = module_name(unit)
    if component is not None:
        return _convert(component, module, fpga=fpga)
    key = Key(Kind.DESIGNS, module, {
        "unit": unit, "configuration": dataclasses.asdict(config), "tools": versions() | writers(),
        "sources": store.sources("warploom/rtl", "warploom/arch")})

    def make(_: Path) -> str:
        return json.dumps(_convert(verilog.create(config, unit, probe=unit in verilog.PROBED), module)[1:])

    return store.text(key, make, lambda text: Design(module, *json.loads(text)))


def _convert(component: wiring.Component, module: str, *, fpga: bool = False) -> Design:
    return Design(module, verilog.to_verilog(component, module, fpga=fpga), verilog.ports(component))
