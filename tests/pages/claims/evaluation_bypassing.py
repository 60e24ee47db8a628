"""docs/evaluation_bypassing.md. Unless a sentence says otherwise, it is of the seven kernels on `pascal`."""

import math
from collections.abc import Iterator
from statistics import fmean

from support.committed import carried, column, ends, kernels, mean, printed, record, statistics

from claims import Claim, Within
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.evaluation.bypassing.source_energy import BANK, BETWEEN, BY_TABLE_IV, COLLECTOR, NETWORK, collector_pj
from warploom.evaluation.energy.assumptions import FIGURES
from warploom.evaluation.energy.costs import collector_words
from warploom.evaluation.pages import document
from warploom.evaluation.register_file_energy import register_file_saved
from warploom.quoted import found
from warploom.synth.sram import Macro

PAGE = "docs/evaluation_bypassing.md"

KERNELS = kernels("bypassing")


def claims() -> Iterator[Claim]:
    yield from source()
    yield from windows()
    yield from speed()
    yield from energy()
    yield from sizes()
    yield from cache()
    yield from transient()


def saved(key: str) -> list[float]:
    return [KERNELS.mean("BOW, Accesses", key, note=note) for note in ("reads", "writes")]


def source() -> Iterator[Claim]:
    """Energies of Table IV, and what follows for other capacities."""
    whole, root, least = BY_TABLE_IV.values()
    yield "{} pJ for an access to a bank of 64 KB, {} pJ for a word", BANK["energy_pj"], COLLECTOR["energy_pj"]
    yield "cycles: {} pJ for each word", NETWORK["words_pj"]
    yield "| 64 KB | {} |", whole.bank_pj
    yield "| 8 KB | {} |", root.bank_pj
    yield "| 8 KB at the least | {} | the power {} of the capacity", least.bank_pj, BETWEEN
    yield ("(768 B) follows the same rule: {} pJ, at the least {} pJ", root.array_pj(768), least.array_pj(768))
    half = SmConfig.preset("pascal").with_settings(["bypass=bow", "entries=6"])
    yield "A collector of 6 entries takes {} pJ", collector_pj(half)


def windows() -> Iterator[Claim]:
    alone, known = (KERNELS.mean("BOW, Fig. 3, writes", "3", note=note)
                    for note in ("overwritten", "or never read again"))
    compiler = KERNELS.mean("BOW, Fig. 7", "collector only")
    yield "saves {} %; with knowledge of values that are never read again, {} % would be saved", alone, known
    yield "The compiler finds {} % without running the program", compiler
    hints = saved("bow_hints")
    yield ("saves {} % of the reads, where the traces have {}; of the writes {} % without hints (`bow_wr`), where the "
           "traces have {}, and {} % with hints, where the compiler's bits alone have {}", hints[0],
           KERNELS.mean("BOW, Fig. 3, reads", "3"), saved("bow_wr")[1], alone, hints[1], compiler)
    half = saved("half of the entries")
    yield "lose {} points of the reads and {} of the writes", hints[0] - half[0], hints[1] - half[1]
    yield "({} % of all instructions, {} in the paper)", KERNELS.mean("BOW, Fig. 8", "3"), printed("BOW, Fig. 8", "3")
    use = KERNELS.each("BOW, Fig. 9", "bow_wr")
    yield ("in {} % of the cycles without hints (`bow_wr`; matmul {} %), and in {} % with hints; in the paper in "
           "{} %", mean(use), use["matmul"], KERNELS.mean("BOW, Fig. 9", "bow_hints"),
           printed("BOW, Fig. 9", "bow_hints"))
    counted = [statistics("bypassing", name, name="pascal", bypass="off") for name in KERNELS.workloads]
    reads, writes = (fmean(sum(each[key]) / each["datapath_instructions"] for each in counted)
                     for key in ("bank_reads", "bank_writes"))
    yield ("one reads {} registers on average, of which {} % are already in the window, and writes {}", reads,
           KERNELS.mean("BOW, Fig. 3, reads", "3"), writes)
    yield "`bow` gains {}, {} and {} % in windows", *KERNELS.means("BOW, Fig. 10, bow", "2", "3", "7")
    yield "Six entries cost {} points", KERNELS.mean("BOW, Fig. 11", "12") - KERNELS.mean("BOW, Fig. 11", "6")


def speed() -> Iterator[Claim]:
    slow = "--set arrival_delay=1 --set turnaround=1"
    yield ("the baseline loses {} %, and `bow_hints` gains {} % over it", -gained("", slow),
           gained(slow, f"--set bypass=bow_hints {slow}"))
    yield ("`bow_hints` with both settings gains {} %, and with neither, as `pascal` is, {} %",
           *(gained("", f"--set bypass=bow_hints {more}".strip()) for more in (slow, "")))
    yield ("So windows gain {} %, and the paper {} to {}", KERNELS.mean("BOW, Fig. 10", "bow"),
           *(printed("BOW, Fig. 10", design) for design in ("bow", "bow_hints")))
    yield "waits for one of its {} collectors", document("bypassing")["configuration"]["collectors"]
    yield "serve {} to {} requests a cycle", *ends(KERNELS.pressure("off", "requests"))
    yield "here {} %", KERNELS.mean("BOW, Fig. 4", "all")
    yield from few_collectors()
    yield "schedulers find none in {} to {} % of the cycles", *ends(KERNELS.pressure("scarce_off", "collector"))
    yield "Bypassing has 48: {} % more instructions a cycle", KERNELS.mean("BOW, Scarce collectors", "bow")
    yield "The baseline with 48 collectors gains as much", Within(
        0.95, KERNELS.mean("BOW, Scarce collectors", "only as many collectors") /
        KERNELS.mean("BOW, Scarce collectors", "bow_hints"), 1.05)
    yield ("It falls by {} to {} %, not by {}", KERNELS.mean("BOW, Fig. 12, bow", "3"),
           KERNELS.mean("BOW, Fig. 12, bow_hints", "3"), printed("BOW, Fig. 12, bow_hints", "3"))
    yield "that are not for memory spend {} % of their time in collectors", KERNELS.mean("BOW, Fig. 4", "other")


def few_collectors() -> Iterator[Claim]:
    """A baseline with eight, and with 16 banks as well."""
    banks, bow = "--set banks=16 --set rows=128", "--set bypass=bow"
    eight, few = "--set collectors=8", f"{banks} --set collectors=8"
    gains = more(eight, bow), more(eight, "--set bypass=bow_hints"), more(few, f"{banks} {bow}")
    means = [fmean(gain.values()) for gain in gains]
    yield "`bow` gains {} % and `bow_hints` {} %", *means[:2]
    yield "`bow` gains {} %. Matmul issues most, {}", means[2], max(found("fewer collectors", bow).values())
    turns = SmConfig.preset("pascal").schedulers * found("fewer collectors", few, "timing.cycles")["matmul"]
    missed, *others = (found("fewer collectors", few, f"timing.stalls.{cause}")
                       for cause in ("collector", "scoreboard", "memory"))
    yield "lack a collector in {} % of their cycles", 100 * missed["matmul"] / turns
    yield "It gains {}, {} and {} %", *(gain.pop("matmul") for gain in gains)
    yield "all others at most {}", max(max(gain.values()) for gain in gains)
    yield "at least twice as often as for a collector", Within(
        2, min(sum(other[name] for other in others) / missed[name] for name in gains[0]), math.inf)


def gained(before: str, after: str) -> float:
    """Percent of the instructions per cycle that a variant of collectors gains over another, mean over kernels."""
    return fmean(more(before, after, "fast collectors").values())


def more(before: str, after: str, question: str = "fewer collectors") -> dict[str, float]:
    """By kernel, percent of the instructions per cycle that a variant gains over another."""
    slow, fast = (found(question, variant) for variant in (before, after))
    return {name: 100 * (fast[name] / slow[name] - 1) for name in slow}


def energy() -> Iterator[Claim]:
    yield from by_table_iv()
    yield from by_our_costs()


def by_table_iv() -> Iterator[Claim]:
    designs = "bow", "bow_hints"
    over = "BOW, Fig. 13, overhead"
    yield ("{} and {} %, published {} and {}", *KERNELS.means("BOW, Fig. 13", *designs, note="64 KB banks"),
           *(printed("BOW, Fig. 13", design) for design in designs))
    for design in designs:
        yield "the overhead in it is {} %", KERNELS.mean(over, design, note="64 KB banks")
    yield "%, published {} and {}. We save", *(printed(over, design) for design in designs)
    yield "We save {} % of the reads and {} of the writes", *saved("bow_hints")
    for note, text in (
            ("8 KB banks", "but the additions of bypassing are not: {} % are overhead, and {} and {} % saved"),
            ("8 KB banks at the least", "own two arrays suggest, {} % are overhead, and {} and {} % saved")):
        yield text, KERNELS.mean(over, "bow", note=note), *KERNELS.means("BOW, Fig. 13", *designs, note=note)
    hinted = [KERNELS.mean("BOW, Fig. 13", "bow_hints", note=note) - KERNELS.mean("BOW, Fig. 13", "bow_wr", note=note)
              for note in ("64 KB banks", "8 KB banks", "8 KB banks at the least", "our costs")]
    yield "the savings are {} to {} points lower than with hints", *ends(hinted)


def by_our_costs() -> Iterator[Claim]:
    designs = "bow", "bow_hints"
    costs = KERNELS.means("BOW, Fig. 13", *designs, "half of the entries", note="our costs")
    yield ("takes {} % *more* than no bypassing, and `bow_hints` saves {} %; with half of the entries {} %", -costs[0],
           *costs[1:])
    small = [carried("bypassing", f"Fig. 13, {design}", "collector_area") for design in designs]
    yield "they save {} and {} % of the programs' energy instead of {} and {}", *(least for least, _ in small), *(
        most for _, most in small)
    off, hints = KERNELS.energy("off", "bow_hints_3_12")
    yield "less than half of the baseline's register file", Within(40, off["macros"], 50)
    yield "`bow_hints` saves {} points of them", off["macros"] - hints["macros"]
    off, rfc = (record("bypassing", "energy", setting=setting) for setting in ("off", "rfc_3_6"))
    both = off["macros"] + off["wires"]
    less = both - rfc["macros"] - rfc["wires"]
    yield "four fifths of the energy of macros and wires", Within(0.75, less / both, 0.83)
    yield "takes two thirds of that for its own banks", Within(0.63, rfc["added"]["cache"] / less, 0.7)
    clocked = KERNELS.assuming(register_file_saved, "off", "bow_hints_3_12", ungated_clock=1)
    yield "nearly three times the energy of one without", Within(2.7, 1 - clocked / 100, 3)


def sizes() -> Iterator[Claim]:
    config = SmConfig.preset("pascal")
    banks = Macro(config.banks * config.rows, WARP_BITS).area_um2
    before, windows = (FIGURES["collector_word"][kind] * collector_words(config.with_settings([f"bypass={bypass}"]))
                       for kind, bypass in (("slots", "off"), ("window", "bow")))
    yield "are five times as large as the banks", Within(4.5, windows / banks, 5.5)
    yield "wires become twice as long", Within(1.8, math.sqrt((banks + windows) / (banks + before)), 2.2)


def cache() -> Iterator[Claim]:
    yield "Its IPC is the baseline's ({} % on average", KERNELS.mean("BOW, Fig. 10", "rfc")
    yield "saves {} % of the register file's reads and {} % of the writes", *saved("rfc")
    yield "have {} to {} registers a thread", *ends(
        {name: column("bypassing", "transient", "registers", "kernel")[name] for name in KERNELS.workloads})
    yield ("it saves {} % of the energy, `bow_hints` {}",
           *KERNELS.means("BOW, Fig. 13", "rfc", "bow_hints", note="8 KB banks"))
    yield "(`bow_hints` then saves {} %)", KERNELS.mean("BOW, Fig. 13", "half of the entries", note="8 KB banks")


def transient() -> Iterator[Claim]:
    without, with_rows = (found("transient values and rows", variant)["hotspot"]
                          for variant in ("", "--set transient=on"))
    yield "hotspot has {} % more instructions a cycle", 100 * (with_rows / without - 1)
    fewer = column("bypassing", "transient", "saved, 3, %", "kernel")
    yield "In the window of 3 that is {} % fewer registers", fmean(fewer[name] for name in KERNELS.workloads)
    yield "{} % of the results need no register, ours are {} %", printed("BOW, Fig. 7", "collector only"), (
        KERNELS.mean("BOW, Fig. 7", "collector only"))
