"""docs/evaluation_gating.md. Unless a sentence says otherwise, it is of the seven kernels on `maxwell`."""

from collections.abc import Iterator
from statistics import fmean

from support.committed import column, ends, kernels, mean, printed, record, statistics

from claims import Claim, Within
from warploom.evaluation.energy.assumptions import FIGURES
from warploom.evaluation.hardware.areas import LAST_STAGE_BITS
from warploom.evaluation.pages import document
from warploom.evaluation.register_file_energy import register_file_saved
from warploom.quoted import found as quoted

PAGE = "docs/evaluation_gating.md"

KERNELS = kernels("gating")
SHARES = "inactive", "in-lane zeros", "cross-lane zeros"


def claims() -> Iterator[Claim]:
    yield from areas()
    yield from accesses()
    yield from addresses()
    yield from lanes()
    yield from with_coalescing()
    yield from energy()


def areas() -> Iterator[Claim]:
    area = column("hardware_areas", "areas", "um2", "key")
    passed = "logic.gating.cross_lane.off."
    yield "a result passes {} µm², an operand {}", area[f"{passed}result"], area[f"{passed}operand"]
    yield "a trivial one {} %", 100 * area["lane.bypass"] / area["lane.lane"]
    yield "takes {} % of every executing lane", 100 * area["lane.trivial_detector"] / area["lane.lane"]
    copy = next(row["ours"] for row in document("gating")["overheads"]["bytes_cross_lane"]
                if row["what"] == "zero buffer, one copy, of the register file")
    yield "together {} % of the register file's bits", 4 * copy
    lanes = record("hardware_units", "gating_units", unit="lane")
    before, after = (lanes[which]["logic_um2"] for which in ("before", "after"))
    last_stage = LAST_STAGE_BITS * FIGURES["flip_flop"]["area_um2"]
    holding = after - area["lane.bypass"] + last_stage - before
    yield "are multiplexers that hold registers, {} µm² for each lane", holding
    yield "More than half of the lanes' additional area", Within(0.5, holding / (after - before), 0.7)
    yield "hold our registers ({} % of a lane)", 100 * holding / before
    whole = record("hardware", "gating_units", unit="datapath")
    yield "takes {} µm² with gating, {} without", whole["after"]["logic_um2"], whole["before"]["logic_um2"]


def accesses() -> Iterator[Claim]:
    yield ("{} and {} % against {} and {}", *(KERNELS.mean(figure, *SHARES) for figure in ("Fig. 4.7", "Fig. 4.8")),
           *(printed(figure, *SHARES) for figure in ("Fig. 4.7", "Fig. 4.8")))
    yield "two thirds of ours come from narrow values", Within(
        0.62, KERNELS.mean("Fig. 4.7", "cross-lane zeros") / KERNELS.mean("Fig. 4.7", *SHARES), 0.7)
    inactive = KERNELS.each("Fig. 4.7", "inactive")
    yield "bfs alone gives {} of our {} points", inactive["bfs"] / 7, mean(inactive)
    threads = KERNELS.each("Fig. 4.1a", "inactive")
    yield "{} % of its lanes wait", threads["bfs"]
    yield "hotspot's inactive lanes are the halo of its tiles ({} %)", threads["hotspot"]
    yield ("the same {} % of reads come from {} % of inactive threads", printed("Fig. 4.7", "inactive"),
           printed("Fig. 4.1a", "inactive"))
    yield ("save {} % here and {} % in the dissertation", KERNELS.mean("Fig. 4.10", "inactive"),
           printed("Fig. 4.10", "inactive"))
    yield ("{} % of our results are zero, and {} % of the dissertation's", KERNELS.mean("Fig. 4.1b", "zero"),
           printed("Fig. 4.1b", "zero"))
    in_lane = [KERNELS.mean(figure, *SHARES[:2]) for figure in ("Fig. 4.7", "Fig. 4.8")]
    yield "instead of {} and {}; the dissertation {} and {}", *in_lane, *(
        printed(figure, *SHARES[:2]) for figure in ("Fig. 4.7", "Fig. 4.8"))
    yield "{} % of the results have one or two bytes", KERNELS.mean("Fig. 4.1b", "8 bits", "16 bits")
    yield ("Only {} % have four; the dissertation has {} %", KERNELS.mean("Fig. 4.1b", "32 bits"),
           printed("Fig. 4.1b", "32 bits"))
    more = KERNELS.each("Fig. 4.7", "cross-lane zeros")
    yield ("In bfs `cross_lane` adds {} points to `in_lane`, elsewhere {} to {}", more.pop("bfs"), *ends(more))


def addresses() -> Iterator[Claim]:
    """With the heap where GPGPU-Sim 3 has it, against no gating, to which values make no difference."""
    plain = {name: statistics("gating", name, name="maxwell", gating="off") for name in KERNELS.workloads}
    yield "`in_lane` saves {} % of the reads and {} % of the writes", *(
        fmean(100 * (1 - count / plain[name][columns]) for name, count in quoted(
            "zeros of addresses", "--set gating=in_lane", f"timing.{columns}").items())
        for columns in ("column_reads", "column_writes"))


def lanes() -> Iterator[Claim]:
    hidden, found = (KERNELS.each("By mask", key) for key in ("cross_lane", "in_lane"))
    yield "{} % of all lane operations are trivial; the dissertation has {} %", mean(hidden), printed(
        "Fig. 4.10", "trivial operations")
    yield "(histogram and vector_add: {} and {} %)", hidden["histogram"], hidden["vector_add"]
    lost = {name: found[name] - hidden[name] for name in found}
    yield "{} points of {}", mean(lost), mean(found)
    yield ("pathfinder loses {} of {} (lanes whose cost is zero by chance), bfs {} of {}, the others at most {}",
           lost.pop("pathfinder"), found["pathfinder"], lost.pop("bfs"), found["bfs"], max(lost.values()))


def with_coalescing() -> Iterator[Claim]:
    saved = kernels("coalescing").each("Fig. 3.34, register file", "wshift_reg")
    parts = [fmean((1 - saved[name] / 100) * value for name, value in
                   KERNELS.each("Fig. 4.9, coalescing", key, note="rows shared").items()) for key in SHARES]
    yield ("coalescing saves {} % and gating {} more, {} of which come from the active mask alone, and {} from "
           "zeros in lanes", mean(saved), sum(parts), *parts[:2])
    yield "Trivial operations are the same, {} %", KERNELS.mean("By mask, coalescing", "cross_lane")


def energy() -> Iterator[Claim]:
    def total(note: str, figure: str = "Fig. 4.9") -> float:
        return KERNELS.mean(figure, *SHARES, note=note)

    shared, without = total("rows shared"), total("no column enables for reads")
    yield "Three tenths depend on read enables by column", Within(0.27, 1 - without / shared, 0.33)
    yield "{} % are saved without them instead of {}", without, shared
    yield "leaves {} %", total("columns apart, rows repeated")
    yield "costs {} % *more* than no gating", -total("columns apart, rows repeated", "Fig. 4.9, coalescing")
    yield "The dissertation's accounting** gives {} %", total("rows shared, macros only")
    yield "it prints {}", printed("Fig. 4.9", *SHARES)
    yield "The rest of our {} %", shared
    off, active, in_lane, cross_lane = KERNELS.energy("bytes_off", "bytes_active", "bytes_in_lane", "bytes_cross_lane")
    saved = {part: off[part] - cross_lane[part] for part in ("macros", "registers", "selection", "wires")}
    yield "macros save {} of their {} points", saved["macros"], off["macros"]
    yield "our macros are only {} % of a register file", off["macros"]
    yield ("in collectors and behind them ({} points), from words that are not selected ({}), and from wires that do "
           "not toggle ({})", saved["registers"], saved["selection"], saved["wires"])
    with_masks = active["registers"] - in_lane["registers"]
    yield "More than half of the registers' saving", Within(0.5, with_masks / saved["registers"], 0.65)
    yield "in every cycle, {} % would be saved", KERNELS.assuming(
        register_file_saved, "bytes_off", "bytes_cross_lane", ungated_clock=1)
    parts = "zero buffer", "detector and switches", "fields"
    yield "which already takes {} % of the register file's energy", KERNELS.mean(
        "Section 4.5, register file", "zero buffer")
    yield "zero buffer {} %, detectors and switches {} %, fields {} % of the register file", *KERNELS.means(
        "Section 4.5, register file", *parts)
    yield "and {} % are overhead", KERNELS.mean("Section 4.5, register file", "all")
    yield "{} % of the GPU (published {} %)", KERNELS.mean("Section 4.5, whole GPU", "all"), printed(
        "Section 4.5, whole GPU", "all")
    whole = KERNELS.means("Fig. 4.11", "register file", "execution units", note="rows shared")
    yield "{} + {} = {} % (rows shared), {} % without read enables", *whole, sum(whole), KERNELS.mean(
        "Fig. 4.11", "register file", "execution units", note="no column enables for reads")
