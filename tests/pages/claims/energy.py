"""docs/energy.md: averages over the programs of each source."""

from collections.abc import Iterator

from support.committed import carried, printed, programs, record

from claims import Claim, Within
from warploom.evaluation.energy.assumptions import ASSUMED, FIGURES
from warploom.evaluation.pages import document

PAGE = "docs/energy.md"

WHOLE = "Fig. 3.33, whole GPU"
MACHINES = "coalescing", "coalescing_gtx480"


def claims() -> Iterator[Claim]:
    yield "one that loads: {} fJ of clock, and {} fJ if its bit toggles", *(
        FIGURES["flip_flop"][key] for key in ("clock_fj", "toggle_fj"))
    yield "an adder takes {} pJ by {} µm² at {} nm and {} V", *(
        FIGURES["adder"][key] for key in ("energy_pj", "area_um2", "node_nm", "voltage"))
    yield "| wire | {} fF/µm", FIGURES["wire"]["capacitance_ff_per_um"]
    off, reg = (record("coalescing", "energy", setting=setting) for setting in ("wid_off", "wid_reg"))
    yield ("on `fermi` coalescing leaves {} % of the bytes, but {} % of the wires' energy",
           *(100 * reg[part] / off[part] for part in ("macros", "wires")))
    yield ("is {} % register file and {} % execution units", 100 * ASSUMED.register_file_share,
           100 * ASSUMED.execution_share)
    yield from coalescing()
    clocked = carried("gating", "Fig. 4.9", "ungated_clock")
    yield "gating would save a seventh of what it saves", Within(1 / 7.5, clocked[1] / clocked[0], 1 / 6.5)
    clocked = carried("bypassing", "Fig. 13, bow_hints", "ungated_clock")
    yield "would take three times the energy of one without", Within(2.85, 1 - clocked[1] / 100, 3.15)
    small = [carried("bypassing", f"Fig. 13, {design}", "collector_area") for design in ("bow", "bow_hints")]
    yield "would save {} and {} % instead of {} and {}", *(least for least, _ in small), *(most for _, most in small)


def coalescing() -> Iterator[Claim]:
    saved = [programs(machine).mean(WHOLE, "reg", note="rest by time") for machine in MACHINES]
    yield ("The dissertation saves {} % of the GPU's energy, we {} (`fermi`) and {} (`gtx480`)", printed(WHOLE, "reg"),
           *saved)
    share = FIGURES["assumptions"]["register_file_share"]
    yield "one that took nothing would save {} %, or {}", 100 * share["value"], 100 * share["most"]
    moved = max(abs(row[end] - row["ours"]) for machine in MACHINES for row in document(machine)["sensitivity"]
                for end in ("with least", "with most") if row["figure"] == WHOLE)
    yield "each assumption alone moves that by less than four points", Within(3, moved, 4)
    file = carried("coalescing", "Fig. 3.33, register file", "sram_power")
    yield "more than half of its saving in the register file is gone", Within(0.5, 1 - file[1] / file[0], 0.62)
    by_time, as_before = ([programs(machine).means("Table 3.7, whole GPU", "wid_reg", "corf_plus", note=note)
                           for machine in MACHINES] for note in ("rest by time", "rest as before"))
    yield "is {} points on `fermi` and {} on `gtx480`", *(ours - theirs for ours, theirs in by_time)
    yield "CORF++ saves {} % on `gtx480` and ours {}", *reversed(as_before[1])
