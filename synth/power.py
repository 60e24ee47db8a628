"""Power of a flat mapped netlist, from Liberty's tables and from how often each net changes.

- *leakage*: of each cell, the mean over its states;
- *switching*: half of load times the square of the supply for each change of a net;
- *internal*: Liberty's energy of an edge of an output, at its load and at the slew of its inputs, mean over its inputs
  and over both edges; and of an edge at the data pin of a register. An output of a register that drives nothing changes
  with the other one;
- *clock*: Liberty's energy of both edges at the clock pin of each register, and the charge of that pin, in every cycle;
  `gated_clock` the same only in cycles in which the register changes, as if each had a gate of its own. The clock's
  tree and gates are not there;
- *SRAM*: accesses and leakage of macros, by `warploom.synth.sram`.

Glitches and wires are not there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from warploom.synth.cell_energy import Energies, Energy
from warploom.synth.gates import Gates
from warploom.synth.liberty import Library, Table
from warploom.synth.netlist import MACRO, Flat, macro_shape
from warploom.synth.sram import VOLTAGE, Macro
from warploom.synth.sta import Timer, net_loads
from warploom.synth.tables import Tables


@dataclass(frozen=True)
class Power:
    """Power in mW: of cells, and of memory macros, dynamic and leakage. Of `clock` and `gated_clock` one counts."""

    switching: float
    internal: float
    clock: float
    gated_clock: float
    leakage: float
    sram: float
    sram_leakage: float

    @property
    def static(self) -> float:
        """Leakage."""
        return self.leakage + self.sram_leakage

    @property
    def dynamic(self) -> float:
        """All but leakage, with an ungated clock."""
        return self.switching + self.internal + self.clock + self.sram

    @property
    def gated(self) -> float:
        """All but leakage, with a gated clock."""
        return self.dynamic - self.clock + self.gated_clock


def power(flat: Flat, library: Library, energies: Energies, gates: Gates, mhz: float) -> Power:
    """Of a netlist whose cycles `gates` has simulated, at a frequency."""
    rate = gates.changes / max(gates.cycles - 1, 1) / gates.streams  # changes in a cycle
    loads, slews, to_mw = net_loads(flat, library).mean(axis=1), Timer(flat, library).slews().mean(axis=1), mhz * 1e-6
    cells = {kind: rows for kind, rows in flat.gates.items() if not kind.startswith(MACRO)}
    macros = {kind: Macro(*macro_shape(kind)) for kind in flat.gates if kind.startswith(MACRO)}
    edges = _Edges(library, energies, rate, loads, slews)
    internal = [edges.spent(kind, flat.pins[kind], rows) for kind, rows in cells.items()]
    accesses = sum(macro.energy_pj * gates.accesses[kind] for kind, macro in macros.items())
    return Power(
        switching=to_mw * VOLTAGE**2 / 2 * float((loads * rate)[2:].sum()),
        internal=to_mw * sum(spent for spent, _, _ in internal), clock=to_mw * sum(clock for _, clock, _ in internal),
        gated_clock=to_mw * sum(gated for _, _, gated in internal),
        leakage=1e-6 * sum(library.cells[kind].leakage * len(rows) for kind, rows in cells.items()),
        sram=1000 * to_mw * accesses / max(gates.cycles, 1) / gates.streams,
        sram_leakage=sum(macro.leakage_mw * len(flat.gates[kind]) for kind, macro in macros.items()))


@dataclass(frozen=True)
class _Edges:
    """What Liberty says of edges, and of each net: changes in a cycle, load (fF) and slew (ps)."""

    library: Library
    energies: Energies
    rate: np.ndarray
    loads: np.ndarray
    slews: np.ndarray

    def spent(self, kind: str, pins: Sequence[str], rows: np.ndarray) -> tuple[float, float, float]:
        """Of all cells of a type in a cycle, fJ: of edges of their outputs and data pins; of their clock, not gated and
        gated."""
        cell, rate, none = self.library.cells[kind], self.rate, np.zeros(len(rows))
        nets = {pin: np.maximum(rows[:, number], 0) for number, pin in enumerate(pins)}
        by_inputs = cell.inputs and not cell.sequential
        slew = np.mean([self.slews[nets[pin]] for pin in cell.inputs], axis=0) if by_inputs else none
        spent, clock = 0.0, 0.0
        outputs = {pin: nets[pin] > 1 for pin in cell.outputs}
        changing = none
        if cell.sequential:  # both outputs of a register change, used or not
            changing = np.max([np.where(drives, rate[nets[pin]], 0.0) for pin, drives in outputs.items()], axis=0)
        for pin, drives in outputs.items():
            load = np.where(drives, self.loads[nets[pin]], 0.0)
            edge = np.where(drives, rate[nets[pin]], changing) * mean_energy(self._tables(kind, pin), slew, load)
            spent += float(edge.sum())
        if not cell.sequential:
            return spent, 0.0, 0.0
        for pin, capacitances in cell.inputs.items():
            tables = self._tables(kind, pin)
            if pin in cell.setup:
                spent += float((rate[nets[pin]] * mean_energy(tables, self.slews[nets[pin]], none)).sum())
            else:
                edges = 2 * float(mean_energy(tables, none[:1], none[:1])[0])
                clock += edges + VOLTAGE**2 * float(np.mean(capacitances))
        return spent, len(rows) * clock, float(changing.sum()) * clock

    def _tables(self, kind: str, pin: str) -> list[Energy]:
        return self.energies.get(kind, {}).get(pin, [])


def mean_energy(tables: Iterable[Energy], slew: np.ndarray, load: np.ndarray) -> np.ndarray:
    """The energy of an edge, mean over tables and edges; 0 without any."""
    found = [table for energy in tables for table in (energy.rise, energy.fall) if table is not None]
    return sum((_looked_up(table, slew, load) for table in found), np.zeros(len(slew))) / max(len(found), 1)


def _looked_up(table: Table, slew: np.ndarray, load: np.ndarray) -> np.ndarray:
    tables = Tables()
    number = tables.index(table)
    tables.freeze()
    return tables.look_up(number, slew, load)
