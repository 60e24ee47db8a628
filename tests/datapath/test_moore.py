"""Every output of the datapath is a function of its registers alone (docs/contract/README.md): no input reaches an
output in its cycle, as a search in the netlist shows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.rtl import verilog
from warploom.synth import yosys

SMALL = SmConfig.preset("small")

PORTS_AND_PAIRS = "schedulers=2 issue_ports=2 issue_per_warp=2 collectors=5 arrival_delay=0 turnaround=0"
MACHINES = (
    "", f"{PORTS_AND_PAIRS} coalescing=on alignment=write gating=cross_lane affine=abm",
    "bypass=bow_hints transient=on arrival_delay=0 turnaround=0 affine=abm",
    "renaming=mem_ra tfet_rows=8 pipes.sp.result_queue=2",
)


def reaching(component: wiring.Component, folder: Path) -> set[tuple[str, str]]:
    """The inputs that reach an output in the same cycle, each with the output."""
    (folder / "unit.il").write_text(verilog.to_rtlil(component, "unit", source_lines=False))
    yosys.run("read_rtlil unit.il; hierarchy -top unit; proc; opt_clean; memory -nomap; flatten\n"
              "write_json unit.json\n", folder, "netlist")
    netlist = yosys.read(folder / "unit.json")["modules"]["unit"]
    ports = netlist["ports"]
    inputs = {bit: name for name, port in ports.items() if port["direction"] == "input" for bit in port["bits"]}
    drivers = {bit: cell for cell in netlist["cells"].values() for bit in _bits(cell, "output")}
    return {(inputs[bit], name) for name, port in ports.items() if port["direction"] == "output"
            for bit in _before(port["bits"], drivers) & inputs.keys()}


def _before(bits: list[int], drivers: dict[int, Any]) -> set[int]:
    """These bits, and all on which they depend in their cycle."""
    found, left = set[int](), {*bits}
    while left:
        bit = left.pop()
        found.add(bit)
        cell = drivers.get(bit)
        if cell is not None and not _is_register(cell):
            left |= {*_bits(cell, "input")} - found
    return found


def _is_register(cell: dict[str, Any]) -> bool:
    """Whether the outputs of a cell change with the clock only."""
    if cell["type"].startswith("$mem"):
        return "0" not in cell["parameters"]["RD_CLK_ENABLE"]
    return "dff" in cell["type"]


def _bits(cell: dict[str, Any], direction: str) -> Iterator[int]:
    for port, bits in cell["connections"].items():
        if cell["port_directions"][port] == direction:
            yield from bits


@pytest.mark.parametrize("settings", [pytest.param(one, marks=pytest.mark.long if one else ()) for one in MACHINES])
def test_no_input_of_the_datapath_reaches_an_output(settings: str, tmp_path: Path) -> None:
    assert not reaching(verilog.datapath(SMALL.with_settings(settings.split())), tmp_path)


def test_the_search_finds_what_a_unit_passes_on(tmp_path: Path) -> None:
    """A dispatcher selects among what is ready in the cycle, but counts a credit from the next one on."""
    found = reaching(verilog.create(SMALL, "Dispatcher"), tmp_path)
    assert {("ready", "select"), ("pipe", "select")} <= found
    assert ("credit_mem", "select") not in found
