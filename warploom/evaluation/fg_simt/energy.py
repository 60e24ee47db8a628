"""The dynamic energy of the FG-SIMT engine ([AFFINE], Fig. 8): counts of the model, with the cost of each by the rules
of `energy/costs.py` and the areas of the synthesised engine (docs/fg_simt.md, *Area and energy*)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.micro import MICRO_FIELDS, OPERAND_FIELDS
from warploom.arch.fg_simt.sizes import DIVIDE_INTERVAL, EIGHT_LANES, REGISTERS, THREADS
from warploom.arch.l1 import LANES, LINE_BITS, LINES, WORD_BITS, narrow_ports
from warploom.arch.mechanisms import Affine
from warploom.evaluation.energy.assumptions import ASSUMED, FIGURES, Assumptions
from warploom.evaluation.energy.costs import Costs
from warploom.evaluation.energy.sensitivity import Headline
from warploom.evaluation.fg_simt.experiment import PUBLISHED, Executed
from warploom.evaluation.metrics import gained
from warploom.synth.compare import logic_um2
from warploom.synth.flow import synthesise
from warploom.synth.report import Report, Row

ENGINE = "WholeEngine"
"""The engine with its L1, of which units are synthesised."""

UNITS = ("control_processor", "host", "fetch", "issue_unit", "first_sau", "second_sau", "simt_register_file",
         "predicate_masks", "access_unit", "load_unit", "memory_unit", "data_cache", "instruction_cache", "axi_master")
"""Units of the engine with its L1, without the logic that connects them."""

CHANGED = "control_processor"
"""The only one of them that depends on the kind of affine execution."""

INNER = ("simple_lane", "fused_lane", "conversion_lane", "product_lane", "division_lane", "address_lane", "constants",
         "cache_bank")
"""Units inside them, whose areas energies need."""

OPERANDS = 3

PASSES = {"simple": 1, "fused": 1, "conversion": 1, "product": 1, "division": DIVIDE_INTERVAL}
"""Units of a lane, and how often an operation passes the logic of one."""

FORWARDED, WRITERS = 2, 3
"""Where a word that is read may come from: the file of the thread, and what is written to it in this cycle, by one of
three units."""

MICRO_BITS = sum(bits for _, bits in MICRO_FIELDS) + 3 * sum(bits for _, bits in OPERAND_FIELDS)
TAG_BITS = 16
"""Tag of a line, valid and dirty, rounded up."""

INSTRUCTION_COLUMNS = 4
"""Of 32 bits: an instruction in memory has 16 bytes."""

WIDE_WORDS = LINE_BITS // WORD_BITS

POWER = {
    "bfs": (94, 106), "bilateral": (125, 136), "bsearch": (135, 149), "cmult": (168, 200), "conv": (139, 157),
    "dither": (116, 118), "kmeans": (130, 152), "mfilt": (119, 137), "rgb2cmyk": (181, 214), "rsort": (104, 115),
    "sgemm": (124, 168), "strsearch": (113, 126), "viterbi": (113, 116),
}
"""Table 3 of [AFFINE]: average power in mW, without affine execution and with `abm`."""

CYCLE_NS = 2.8
"""Cycle time of [AFFINE], which prints none in its text: strsearch takes 115 uJ at 113 mW in 363 thousand cycles (130
uJ at 126 mW with `abm`: 2.84)."""

COLUMNS = ("program", "nJ", "pJ a cycle", "a", "ab", "abm", "cycles", "lanes", "registers", "memory")
"""Energy of the kernels without affine execution, and of one of their cycles; energy with each kind relative to it;
cycles with `abm` likewise; and with `abm` the energy of the arithmetic units (with the affine unit), of the registers,
and of the memory system, relative to those without."""

Parts = dict[str, float]
MEMORY = ("memory unit", "L1", "instructions")


@dataclass(frozen=True)
class Counted:
    """What a program counts with a kind of affine execution, and the units of the engine that does it. `plain` are the
    gates that a control processor without affine execution has, in um2."""

    counts: Mapping[str, int]
    cycles: int
    rows: Mapping[str, Row]
    plain: float

    def parts(self, assumed: Assumptions = ASSUMED) -> Parts:
        """The energy by part, pJ."""
        known = FIGURES["fg_simt"]["toggling"]
        costs = Costs(SmConfig.preset("small"), known + assumed.random_data * (0.5 - known), assumed)
        loads = self._loads()
        passed = {"lanes": self._lanes(costs), "registers": self._registers(costs), **self._control(costs),
                  "memory unit": self._memory_unit(costs), "L1": self._l1(costs), "instructions": self._fetches(costs)}
        idle = self.cycles * self._flip_flops() - sum(loads.values())
        return {**{part: spent + loads.get(part, 0) * costs.flip_flop for part, spent in passed.items()},
                "clock": costs.clock * idle}

    def total(self, assumed: Assumptions = ASSUMED) -> float:
        """The energy of all parts, pJ."""
        return sum(self.parts(assumed).values())

    def _count(self, name: str) -> int:
        return self.counts.get(name, 0)

    def _loads(self) -> dict[str, int]:
        """Bits that flip-flops load, by part: registers of operands; words that executing threads write; compact
        results; two registers of an operation; address, data and answer of a thread; an entry of the fetch queue."""
        entered = sum(self._count(f"{unit}_operations") for unit in PASSES)
        return {
            "lanes": entered * THREADS * OPERANDS * WORD_BITS, "registers": self._count("words_written") * WORD_BITS,
            "affine unit": self._count("affine") * (WORD_BITS + STRIDE_BITS), "issue": self._sent() * 2 * MICRO_BITS,
            "memory unit": self._count("access_threads") * 3 * WORD_BITS,
            "instructions": self._count("fetches") * INSTRUCTION_COLUMNS * WORD_BITS,
        }

    def _sent(self) -> int:
        """What passes the issue unit."""
        return self._count("lane_operations") + self._count("collects")

    def _lanes(self, costs: Costs) -> float:
        """What passes each unit, and constants for all lanes."""
        units = sum(passes * self._passing(unit, costs) * costs.logic(logic_um2(self.rows[f"{unit}_lane"]))
                    for unit, passes in PASSES.items())
        return units + EIGHT_LANES.groups * self._count("constants_read") * costs.logic(self._gates("constants"))

    def _passing(self, unit: str, costs: Costs) -> float:
        """Threads whose operands pass a unit: those that execute, and a share of the others."""
        threads = self._count(f"{unit}_threads")
        return threads + costs.assumed.idle_lanes * (THREADS * self._count(f"{unit}_operations") - threads)

    def _registers(self, costs: Costs) -> float:
        """A word of each lane that is read, and the writers among which a thread's word is selected."""
        read = costs.table_read(REGISTERS, WORD_BITS) + WORD_BITS * (
            costs.selection(FORWARDED) + costs.selection(EIGHT_LANES.groups))
        return (THREADS * self._count("registers_read") * read
                + WORD_BITS * self._count("words_written") * costs.selection(WRITERS))

    def _control(self, costs: Costs) -> Parts:
        """Each instruction passes the control processor, each operation the issue unit."""
        affine = max(self._gates("control_processor") - self.plain, 0)
        return {"control": self._count("instructions") * costs.logic(self.plain),
                "affine unit": self._count("instructions") * costs.logic(affine),
                "issue": self._sent() * costs.logic(self._gates("issue_unit"))}

    def _memory_unit(self, costs: Costs) -> float:
        """Addresses; a request passes the part of the unit that belongs to its ports."""
        requests = self._count("wide_requests") + self._count("narrow_requests") / EIGHT_LANES.lanes
        return (self._passing("access", costs) * costs.logic(logic_um2(self.rows["address_lane"]))
                + requests * costs.logic(self._gates("memory_unit")))

    def _l1(self, costs: Costs) -> float:
        """All requests hit: the columns of a bank that they touch, its tag and its logic, and both crossbars, in
        proportion to the width of ports."""
        words = narrow_ports(LANES) + WIDE_WORDS
        crossing = costs.logic(self._gates("data_cache") - LANES * self._gates("cache_bank")) / words
        column, tag = costs.sram(LINES, WORD_BITS), costs.sram(LINES, TAG_BITS)
        bank = tag + costs.logic(self._gates("cache_bank"))
        return (self._count("narrow_requests") * (bank + column + crossing)
                + self._count("wide_requests") * (bank + WIDE_WORDS * (column + crossing)))

    def _fetches(self, costs: Costs) -> float:
        """The instruction cache, and fetching."""
        gates = self._gates("instruction_cache") + self._gates("fetch")
        each = (costs.sram(LINES, TAG_BITS) + INSTRUCTION_COLUMNS * costs.sram(LINES, WORD_BITS) + costs.logic(gates))
        return self._count("fetches") * each

    def _gates(self, unit: str) -> float:
        """The area of a unit without its flip-flops."""
        return self.rows[unit].combinational_um2

    def _flip_flops(self) -> float:
        return sum(self.rows[unit].sequential_um2 for unit in UNITS) / FIGURES["flip_flop"]["area_um2"]


Engines = Mapping[str, Report]
"""The units of the engine with each kind of affine execution."""


def counted(found: Executed, engines: Engines) -> dict[str, Counted]:
    """A program with each kind of affine execution."""
    rows = {kind: {row.unit: row for row in report.rows} for kind, report in engines.items()}
    plain = rows[Affine.OFF.value][CHANGED].combinational_um2
    return {kind: Counted(counts, found.cycles[kind], rows[kind], plain) for kind, counts in found.counts.items()}


def units(config: SmConfig) -> Engines:
    """The units of the engine in a library of cells."""
    off = synthesise(config.with_settings([f"affine={Affine.OFF.value}"]), (*UNITS, *INNER), top=ENGINE)
    engines = {Affine.OFF.value: off}
    for kind in (Affine.A, Affine.AB, Affine.ABM):
        found = synthesise(config.with_settings([f"affine={kind.value}"]), (CHANGED,), top=ENGINE)
        changed = {row.unit: row for row in found.rows}
        engines[kind.value] = replace(off, rows=tuple(changed.get(row.unit, row) for row in off.rows))
    return engines


def kinds(engines: Engines) -> list[dict[str, Any]]:
    """Logic and path of the engine with each kind of affine execution: of its control processor, and of all units."""
    found = []
    for kind, report in engines.items():
        rows = {row.unit: row for row in report.rows}
        found.append({
            "kind": kind, "control_processor_um2": logic_um2(rows[CHANGED]),
            "control_processor_ps": rows[CHANGED].delay_ps,
            "units_um2": sum(logic_um2(rows[unit]) for unit in UNITS),
            "units_ps": max(rows[unit].delay_ps for unit in UNITS)})
    return found


def row(name: str, counts: Mapping[str, Counted]) -> dict[str, Any]:
    """By `COLUMNS`, and what is published of the same under `published NAME`."""
    off, abm = counts[Affine.OFF.value], counts[Affine.ABM.value]
    before, after = off.parts(), abm.parts()
    ratios = [counts[kind.value].total() / off.total() for kind in (Affine.A, Affine.AB, Affine.ABM)]
    ours = (name, off.total() / 1000, off.total() / off.cycles, *ratios, abm.cycles / off.cycles,
            *(_ratio(before, after, names) for names in (("lanes", "affine unit"), ("registers",), MEMORY)))
    known = {"pJ a cycle": POWER[name][0] * CYCLE_NS, "abm": published(name),
             "cycles": PUBLISHED[name][4] / PUBLISHED[name][1]}
    return {**dict(zip(COLUMNS, ours, strict=True)),
            **{f"published {column}": value for column, value in known.items()}}


def _ratio(before: Parts, after: Parts, names: tuple[str, ...]) -> float:
    return sum(after[name] for name in names) / sum(before[name] for name in names)


def texts(values: Mapping[str, Any]) -> list[str]:
    """A row of the table: each value with the published one in parentheses."""
    def text(column: str) -> str:
        value, known = values[column], values.get(f"published {column}")
        if isinstance(value, str):
            return value
        form = ",.0f" if column in COLUMNS[1:3] else ".2f"
        return f"{value:{form}}" + (f" ({known:{form}})" if known is not None else "")
    return [text(column) for column in COLUMNS]


def shares(programs: Mapping[str, Mapping[str, Counted]]) -> list[dict[str, Any]]:
    """For each kind, the energy by part in % of all without affine execution: the mean over programs."""
    found = []
    for kind in (kind.value for kind in Affine):
        each = [{part: 100 * energy / one[Affine.OFF.value].total() for part, energy in one[kind].parts().items()}
                for one in programs.values()]
        means = {part: sum(one[part] for one in each) / len(each) for part in each[0]}
        found.append({"kind": kind, **means, "total": sum(means.values())})
    return found


def _more(ours: Counted, baseline: Counted, assumed: Assumptions = ASSUMED) -> float:
    """Energy added, in percent."""
    return gained(ours.total(assumed), baseline.total(assumed))


def published(name: str) -> float:
    """Energy with `abm` relative to that without: power times time."""
    (before, after), (fewer, more) = POWER[name], PUBLISHED[name][4:0:-3]
    return after * fewer / (before * more)


HEADLINES = (Headline("Fig. 8, energy added", f"{fmean(gained(published(name), 1) for name in POWER):.1f}", _more,
                      Affine.ABM.value, Affine.OFF.value),)
"""What assumptions carry: the mean over programs."""
