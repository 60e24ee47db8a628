"""Power and area of the rename stage beside those of the register file ([TFET], section 4.1.2.3), at measured activity.

The stage's netlist is simulated gate by gate with the inputs that the golden SM gives its stage in the first cycles of
each kernel, all kernels side by side; its outputs are compared with the model's in every cycle. The register file takes
what its events in the same cycles cost (`register_file_energy.py`), and the leakage of its banks. Both are at 45 nm and
1.1 V, but for leakage of SRAM, which is the published one of 28 nm and 0.96 V, of banks and stage alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import numpy as np

from warploom.arch.chunks import most_warps
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.arch.fields import index_bits, pack, width
from warploom.arch.interfaces import TAG_BITS, WARP_BITS, address_fields, issue_fields
from warploom.arch.layout import powered_rows
from warploom.evaluation.figures import Run
from warploom.evaluation.metrics import share
from warploom.evaluation.register_file_energy import register_file
from warploom.evaluation.simulations import annotated
from warploom.evaluation.traces.toggling import toggling
from warploom.evaluation.workloads import traces
from warploom.golden_model.operands.collector import SLOTS
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect
from warploom.golden_model.values import values
from warploom.synth import cell_energy, liberty
from warploom.synth.flow import linked
from warploom.synth.gates import Bits, Gates
from warploom.synth.netlist import MACRO, macro_shape
from warploom.synth.power import Power, power
from warploom.synth.sram import Macro

UNIT = "RenameStage"
SETTINGS = ("issue_ports=1", "tfet_rows=56", "renaming=mem_ra")
"""Of the machine: renaming goes with one issue port only."""

WITHOUT = ("tfet_rows=0", "renaming=off", "scheduler=lrr")
"""Of the machine with whose register file the stage is compared; some schedulers need the stage."""

KERNELS = ("vector_add", "hotspot", "bfs")
"""Whose activity is measured: few, much and divergent computation."""

CYCLES = 1000
"""Of each kernel, from the first one on."""

MHZ = 1000
"""The source's clock."""

COLUMNS = ("what", "stage", "register file", "share, %", "published, %")
"""A quantity of both, and the share that the stage adds."""


@dataclass(frozen=True)
class Measured:
    """The stage's power; the register file's dynamic power and leakage, mW; areas in µm²: cells and SRAM of the stage,
    and banks. SRAM is by the bit cell. `cycles` were simulated of each of so many `streams`."""

    stage: Power
    dynamic: float
    leakage: float
    logic_um2: float
    sram_um2: float
    banks_um2: float
    cycles: int
    streams: int

    def rows(self) -> list[tuple[object, ...]]:
        """By `COLUMNS`."""
        ours, whole, area = self.stage, self.dynamic + self.leakage, self.logic_um2 + self.sram_um2
        return [*(_row(f"power: {name}, mW", spent) for name, spent in asdict(ours).items()),
                _row("dynamic, clock not gated, mW", ours.dynamic, self.dynamic),
                _row("dynamic, clock gated, mW", ours.gated, self.dynamic),
                _row("leakage, mW", ours.static, self.leakage),
                _row("all power, clock not gated, mW", ours.dynamic + ours.static, whole, 1.2),
                _row("all power, clock gated, mW", ours.gated + ours.static, whole, 1.2),
                _row("area of cells, µm²", self.logic_um2), _row("area of SRAM, µm²", self.sram_um2, self.banks_um2),
                _row("area, µm²", area, self.banks_um2, 2.0)]


def _row(what: str, ours: float, whole: float | None = None, published: float | None = None) -> tuple[object, ...]:
    return what, ours, whole, None if whole is None else share(ours, whole), published


def groups() -> dict[str, tuple[str, ...]]:
    """The kernels."""
    return {"kernels": KERNELS}


def measured(config: SmConfig, names: Sequence[str], size: str, cycles: int = CYCLES) -> Measured:
    """The stage of a machine, in the first cycles of some workloads' first launches. Raises what synthesis raises, and
    `ToolError` if the netlist and the golden model differ."""
    library = liberty.load(None)
    flat = linked(config, UNIT, library)
    streams = [Stream(config, name, size) for name in names]
    gates = Gates(flat, library, len(streams))
    _reset(gates)
    for _ in range(cycles):
        _cycle(gates, streams)
        if any(stream.sm.finished for stream in streams):
            break
    spent = power(flat, library, cell_energy.load(library), gates, MHZ)
    bank = Macro(config.rows, WARP_BITS)
    macros = [(Macro(*macro_shape(kind)), len(rows)) for kind, rows in flat.gates.items() if kind.startswith(MACRO)]
    return Measured(
        spent, fmean(stream.register_file() for stream in streams) * MHZ / 1000, config.banks * bank.leakage_mw,
        sum(library.cells[kind].area * len(rows) for kind, rows in flat.gates.items() if not kind.startswith(MACRO)),
        sum(macro.area_um2 * number for macro, number in macros), config.banks * bank.area_um2, gates.cycles,
        len(streams))


def _reset(gates: Gates) -> None:
    """One cycle of reset, which does not count."""
    gates.settle({"rst": np.ones((gates.streams, 1), bool)})
    gates.clock()
    gates.cycles = 0
    gates.accesses.clear()
    gates.settle({"rst": np.zeros((gates.streams, 1), bool)})


def _cycle(gates: Gates, streams: Sequence["Stream"]) -> None:
    """A cycle of all streams: in the model, then in the netlist, which must agree."""
    inputs = [stream.step() for stream in streams]
    gates.settle({name: _bits([given[name] for given in inputs], bits) for name, bits in streams[0].widths.items()})
    expected = [stream.expected() for stream in streams]
    for name, (port, offset, bits) in streams[0].outputs.items():
        for stream, word in enumerate(gates.output(port)):
            seen = word >> offset & (1 << bits) - 1
            wanted = expected[stream].get(name, seen)
            if seen != wanted:
                raise ToolError(f"cycle {gates.cycles} of {streams[stream].name}: {name} is {seen} in the netlist of "
                                f"{UNIT}, and {wanted} in the model")
    gates.clock()


def _bits(words: Sequence[int], count: int) -> Bits:
    return np.array([[word >> bit & 1 for bit in range(count)] for word in words], bool)


# ------------------------------------------------------------------ one workload

class Stream:
    """A golden SM as it runs a workload, and the ports of its stage. `widths` are those of input ports; `outputs` says
    where each compared value is: port, offset and bits."""

    def __init__(self, config: SmConfig, name: str, size: str) -> None:
        self.name, self._config, self._size = name, config, size
        trace = annotated(name, size, config)[0]
        self._trace, self.sm = trace, Sm(config, trace)
        program = trace.program
        self._held = {"stride": self.sm.stride, "issue__payload": 0, "powered": powered_rows(
            config, program.registers, most_warps(config, program, trace.launch))}
        self._sides, self._row = 1 + config.has_sides, 1 + index_bits(config.rows)
        self.widths = {
            "issue__valid": 1, "issue__payload": width(issue_fields(config)),
            "free": 2 * len(config.collector_sets), "released": config.banks * self._sides * self._row, "stride": 8,
            "powered": index_bits(config.cmos_rows + 1), "retired": config.warps, "began": config.warps,
            "ended": config.warps}
        address = address_fields(config)
        row = dict(address)["row"]
        before = width(address[:address.index(("row", row))])
        self.outputs = {
            "rename_leaves": ("renamed__valid", 0, 1), "rename_tag": ("renamed__payload", 0, TAG_BITS),
            "rename_row": ("address", len(SLOTS) * width(address) + before, row),
            "sweeping": ("sweeping", 0, config.warps), "stall": ("stall", 0, config.warps),
            "tfet_free": ("tfet_free", 0, index_bits(config.banks * config.tfet_rows + 1))}

    def step(self) -> Mapping[str, int]:
        """The next cycle of the model: what the stage's ports have."""
        self.sm.step()
        stage, events = self.sm.datapath.renaming, self.sm.inputs.warps
        assert stage is not None
        fields: Mapping[str, Any] | None = next(iter(self.sm.inputs.issue), None)
        if fields is not None:
            self._held["issue__payload"] = pack(issue_fields(self._config), fields)
        return {**self._held, "issue__valid": fields is not None, **events._asdict(),
                "free": sum(min(count, 2) << 2 * number for number, count in enumerate(stage.operands.free_collectors)),
                "released": sum((1 | row << 1) << self._row * (bank * self._sides + side)
                                for bank, row, side in stage.released)}

    def expected(self) -> Mapping[str, int]:
        """What the model shows in this cycle; of an instruction only if one leaves, and its row only if it writes."""
        stage = self.sm.datapath.renaming
        assert stage is not None
        seen = dict(zip(stage.observed, stage.observe(), strict=True))
        unknown = [] if seen["rename_leaves"] else ["rename_tag", "rename_row"]
        unknown += [] if stage.placed is not None else ["rename_row"]
        outputs = {"sweeping": stage.sweeping, "stall": stage.stall, "tfet_free": stage.tfet_free}
        return {name: int(value) for name, value in {**seen, **outputs}.items() if name not in unknown}

    def register_file(self) -> float:
        """The dynamic energy of its register file so far, pJ in a cycle, without the stage and with CMOS rows only."""
        whole, config = traces(self.name, self._size), self._config.with_settings(list(WITHOUT))
        run = Run(config, collect(self.sm), values(*whole), toggling=toggling(*whole))
        return register_file(run).total / max(self.sm.cycle, 1)
