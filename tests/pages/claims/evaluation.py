"""docs/evaluation.md. Unless a sentence says otherwise, it is of the seven kernels on `fermi`."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from support.committed import ends, kernels, mean, printed, programs, record, statistics

from claims import Claim, Within
from warploom.evaluation.pages import document
from warploom.evaluation.register_file_energy import register_file_saved
from warploom.quoted import found

PAGE = "docs/evaluation.md"

FERMI, GTX480 = kernels("coalescing"), kernels("coalescing_gtx480")


def claims() -> Iterator[Claim]:
    yield from definitions()
    yield from pressure()
    yield from bound()
    yield from on_narrow()
    yield from few_banks()
    yield from names_and_addresses()
    yield from operands()
    yield from layouts()
    yield from alignment()
    yield from corf()
    yield from divergence()
    yield from energy()
    yield from cost()


def definitions() -> Iterator[Claim]:
    accesses, writes = printed("Fig. 3.21", "reg"), printed("Fig. 3.22", "reg")
    yield ("{} % of accesses saved would be {} % gained if all kernels were alike, and it prints {} %; {} % "
           "would be {} %, and it prints {} %", accesses, gained(accesses), printed("Fig. 3.24", "reg"),
           writes, gained(writes), printed("Fig. 3.25", "reg"))


def gained(saved: float) -> float:
    return 100 * (100 / (100 - saved) - 1)


def pressure() -> Iterator[Claim]:
    requests = mean(FERMI.pressure("wid_off", "requests"))
    yield "Each bank serves half a request a cycle.", Within(0.45, requests, 0.55)
    yield ("each bank serves {} to {} requests a cycle, and schedulers wait for a collector in {} to {} % of their "
           "cycles", *ends(GTX480.pressure("wid_off", "requests")), *ends(GTX480.pressure("wid_off", "collector")))
    yield "There `reg` saves half as much again as on `fermi`", Within(
        1.4, GTX480.mean("Fig. 3.21", "reg") / FERMI.mean("Fig. 3.21", "reg"), 1.6)
    yield "and gains nearly three times as much IPC", Within(
        2.6, GTX480.mean("Fig. 3.31", "reg") / FERMI.mean("Fig. 3.31", "reg"), 3)
    yield "Ours saves and gains less than half of what the dissertation's does", Within(
        0, max(GTX480.mean(figure, "reg") / printed(figure, "reg") for figure in ("Fig. 3.21", "Fig. 3.31")), 0.5)
    yield "about one request for each cycle and bank, twice as many as ours", Within(1.8, 1 / requests, 2.2)
    yield ("Its upper bound regains {} %, all of which its baseline loses to conflicts; ours loses {} % (`fermi`) or "
           "{} (`gtx480`)", printed("Fig. 3.31", "upper_bound"), FERMI.mean("Fig. 3.31", "upper_bound"),
           GTX480.mean("Fig. 3.31", "upper_bound"))


def bound() -> Iterator[Claim]:
    """Accesses that the upper bound saves."""
    saved = []
    for name in FERMI.workloads:
        off, on = (statistics("coalescing", name, layout="wid", **fields)["bank_accesses"] for fields in (
            {"coalescing": "off"}, {"coalescing": "on", "alignment": "upper_bound"}))
        saved.append(100 * (1 - on / off))
    yield "saves less than the dissertation's {} % with real widths", printed("Fig. 3.21", "reg")
    yield "Even the upper bound, in which any two requests fit, saves less than the dissertation's", Within(
        0, fmean(saved), printed("Fig. 3.21", "reg"))
    yield "The dissertation saves {} % and gains {} %", printed("Fig. 3.21", "reg"), printed("Fig. 3.31", "reg")


def on_narrow() -> Iterator[Claim]:
    yield "has {} requests for each bank and cycle", fmean(requests(NARROW, WID, 4).values())
    saved, gained = saved_and_gained(NARROW, WID)
    yield "there `reg` saves {} % of the accesses with `wid`, and gains {} % of IPC", saved, gained
    others = saved_and_gained(NARROW, WID, " --heap-base 0x80000000")  # without coalescing values matter to nothing
    yield ("on `narrow` {} % instead of {} % of the accesses are saved (`wid`), and {} instead of {} % of IPC gained",
           others[0], saved, others[1], gained)
    moved = f"{WID} --set coalescing=on --heap-base 0x80000000"
    yield "we find {} % and {} %", *(fmean(full_width(kind, moved).values()) for kind in ("source", "destination"))


def few_banks() -> Iterator[Claim]:
    """The size of the register file is unchanged."""
    two = "--set banks=2 --set rows=512 --set collectors=16"
    yield ("with {} requests a cycle and bank, save {} % of the accesses with `wid`",
           fmean(requests(PRESSED, WID, 4).values()), saved_and_gained(PRESSED, WID)[0])
    pressed = [saved_and_gained(PRESSED, f"{layout}{two}")[0] for layout in (f"{WID} ", "")]
    yield ("and {} requests, save {} %, and {} % with `wshift`", fmean(requests(PRESSED, f"{WID} {two}", 2).values()),
           *pressed)
    yield "as ours do under pressure ({} and {} % with 2 banks and 16 collectors)", *pressed


WID, NARROW, PRESSED = "--set layout=wid", "coalescing on narrow", "coalescing under pressure"


def requests(question: str, variant: str, banks: int) -> dict[str, float]:
    """For each bank and cycle, without coalescing."""
    cycles = found(question, variant, "timing.cycles")
    return {name: count / cycles[name] / banks
            for name, count in found(question, variant, "timing.bank_requests").items()}


def saved_and_gained(question: str, variant: str, more: str = "") -> tuple[float, float]:
    """Accesses that coalescing saves, and IPC that it gains, in percent: means over the workloads."""
    off, on = variant, f"{variant} --set coalescing=on{more}"
    (accesses, fewer), (slow, fast) = ([found(question, each, count) for each in (off, on)]
                                       for count in ("timing.bank_accesses", "timing.ipc"))
    return (fmean(100 * (1 - fewer[name] / accesses[name]) for name in accesses),
            fmean(100 * (fast[name] / slow[name] - 1) for name in slow))


def full_width(kind: str, variant: str) -> dict[str, float]:
    """Operands of four bytes, in percent."""
    counts = [found("widths of registers", variant, f"timing.{kind}_widths.{size}") for size in range(4)]
    return {name: 100 * of / sum(each[name] for each in counts) for name, of in counts[3].items()}


def names_and_addresses() -> Iterator[Claim]:
    asked = "registers and addresses"
    virtual = found(asked, "--set rows=1024 --virtual-registers", "kernel.registers")
    yield "a kernel names {} to {} registers instead of {} to {}", *ends(virtual), *ends(
        found(asked, "", "kernel.registers"))


def operands() -> Iterator[Claim]:
    counts = [FERMI.each("Fig. 3.5", key) for key in ("1 source", "2 sources", "3 sources")]
    yield ("{} % of the instructions with register operands have one, {} % two, {} % three", *map(mean, counts))
    one_write = {name: 100 - 10_000 / sum(number * of[name] for number, of in enumerate(counts, 1))
                 for name in FERMI.workloads}
    yield ("{} % of the collector writes would be saved. The dissertation prints {} %", mean(one_write),
           printed("Fig. 3.22", "reg"))
    yield "`reg` saves {} %, `ideal` {} %", *FERMI.means("Fig. 3.22", "reg", "ideal")
    bandwidths = "Fig. 3.26", "Fig. 3.27"
    used = [FERMI.mean(figure, "baseline") for figure in bandwidths]
    yield ("use {} % of the banks' bandwidth and {} % of the collectors'; `reg` adds {} and {} points, on `gtx480` "
           "{} and {}", *used, *(group.mean(figure, "reg adds") for group in (FERMI, GTX480)
                                   for figure in bandwidths))
    source = [printed(figure, "reg") for figure in ("Fig. 3.24", "Fig. 3.25")]
    yield ("its {} and {} % of bandwidth gained would add {} and {} points", *source,
           *(of / 100 * gains for of, gains in zip(used, source, strict=True)))
    yield "so that three quarters of the bandwidth were used", Within(0.72, used[0] / 100 * (1 + source[0] / 100), 0.78)
    yield "beyond `reg` agrees: {} and {} points", *(FERMI.mean(figure, "ideal adds") for figure in bandwidths)
    yield "{} % of the sources and {} % of the results are full-width; the dissertation has {} % and {} %", *(
        FERMI.mean(figure, "4 bytes") for figure in ("Fig. 3.3a", "Fig. 3.3b")), *(
        printed(figure, "4 bytes") for figure in ("Fig. 3.3a", "Fig. 3.3b"))


def layouts() -> Iterator[Claim]:
    yield "{} % of the coalesced accesses are then two reads", FERMI.mean("Fig. 3.29", "read-read")
    yield ("which needs pressure: {} % of the accesses against {} %",
           *FERMI.means("Fig. 3.23", "wshift_reg", "wid_reg"))
    yield "With `wshift` an eighth of the shared accesses are two writes", Within(
        0.115, FERMI.mean("Fig. 3.30", "write-write") / 100, 0.135)
    writes = FERMI.each("Fig. 3.29", "write-write")
    yield "With `wid` they are {} %", mean(writes)
    yield "the share is {} %", max(writes[name] for name in ("hotspot", "matmul", "reduction", "vector_add"))
    yield "have {} and {} %", writes["histogram"], writes["pathfinder"]


def alignment() -> Iterator[Claim]:
    write, reg, ideal = (FERMI.each("Fig. 3.21", key) for key in ("write", "reg", "ideal"))
    yield ("{} and {} % of the accesses, {} and {} % of the collector writes; it gains {} and {} % of IPC",
           mean(write), mean(reg), *FERMI.means("Fig. 3.22", "write", "reg"), *FERMI.means("Fig. 3.31", "write", "reg"))
    yield ("saves more in pathfinder ({} against {} %) and histogram ({} against {} %), and `reg` in matmul "
           "({} against {} %)", write["pathfinder"], reg["pathfinder"], write["histogram"], reg["histogram"],
           reg["matmul"], write["matmul"])
    yield "loses most against `ideal` for pathfinder ({} and {} %)", reg["pathfinder"], ideal["pathfinder"]


def corf() -> Iterator[Claim]:
    theirs, ours = (FERMI.each("Table 3.7, accesses", key) for key in ("corf_plus", "wid_reg"))
    yield ("pathfinder {} against {} % of the accesses, bfs {} against {}) and is behind elsewhere (reduction "
           "{} against {})", *(of[name] for name in ("pathfinder", "bfs", "reduction") for of in (theirs, ours)))
    yield ("yes: {} and {} % of the accesses, {} and {} % of IPC", mean(theirs), mean(ours),
           *FERMI.means("Table 3.7, IPC", "corf_plus", "wid_reg"))
    yield "and ours saves half as much again", Within(
        1.4, GTX480.mean("Table 3.7, accesses", "wid_reg") / GTX480.mean("Table 3.7, accesses", "corf_plus"), 1.6)
    yield ("ours gains {} % of IPC there, and CORF++ {} %. In bfs alone CORF++ leads ({} against {} %)",
           *GTX480.means("Table 3.7, IPC", "wid_reg", "corf_plus"),
           *(GTX480.each("Table 3.7, IPC", key)["bfs"] for key in ("corf_plus", "wid_reg")))


def divergence() -> Iterator[Claim]:
    ours, theirs = (statistics("coalescing", "bfs", layout="wid", coalescing=design, alignment="reg")
                    for design in ("on", "corf_plus"))
    yield ("the values read need {} bytes, but {} sub-banks are enabled to read them, and {} instead of {} to "
           "write", mean_width(ours["source_widths"]), ours["sub_bank_reads"] / ours["operands_stored"],
           ours["sub_bank_writes"] / sum(ours["bank_writes"]), mean_width(ours["destination_widths"]))
    yield ("CORF stores a sign in each lane, and reads {} sub-banks",
           theirs["sub_bank_reads"] / theirs["operands_stored"])


def mean_width(counts: Sequence[int]) -> float:
    return sum(width * count for width, count in enumerate(counts, 1)) / sum(counts)


def energy() -> Iterator[Claim]:
    table, designs = "Table 3.7, register file", ("corf_plus", "wid_reg")
    yield "So it saves {} %, ours {} %", *FERMI.means(table, *designs)
    yield "these are {} and {} %", *GTX480.means(table, *designs)
    yield ("of the programs' energy CORF++ saves {} %, ours {}",
           *programs("coalescing_gtx480").means(table, *designs))
    yield "ours saves more there, {} % instead of {}", *programs("coalescing_gtx480").means(
        "Table 3.7, whole GPU", "wid_reg", "corf_plus", note="rest by time")
    yield ("would save {} % of the register file instead of {} (`fermi`)",
           FERMI.assuming(register_file_saved, "wid_off", "wid_reg", ungated_clock=1), FERMI.mean(table, "wid_reg"))
    before, ours, theirs = FERMI.energy("wid_off", "wid_reg", "wid_corf_plus")
    yield "that takes {} % of the register file's energy", theirs["overhead"]
    yield "multiplexers and arbiter of ours take {} %", ours["overhead"]
    yield "and a fifth in the kernels", Within(0.18, 1 - ours["wires"] / before["wires"], 0.22)
    yield "and {} % in the kernels", ours["overhead"]
    off, reg = (record("coalescing", "energy", setting=setting) for setting in ("wid_off", "wid_reg"))
    yield "Wires save an eighth in the programs", Within(0.11, 1 - reg["wires"] / off["wires"], 0.14)
    yield "multiplexers and arbiter take {} % in the programs", reg["overhead"]
    yield "finds the same value for the three, at {} %", printed("Fig. 3.33, whole GPU", "reg")
    faster = printed("Fig. 3.31", "reg")
    less = 1 - 1 / (1 + faster / 100)
    yield ("together with {} % more IPC and a rest that is proportional to time, would save 0.15 + 0.85 x {} = {} %",
           faster, less, 100 * (0.15 + 0.85 * less))
    brackets = [group.mean("Fig. 3.33, whole GPU", "reg", note=note) for group in (FERMI, GTX480)
                for note in ("rest as before", "rest by time")]
    yield "Our bracket is {} to {} %, on `gtx480` {} to {} %", *brackets


def cost() -> Iterator[Claim]:
    units = {entry["unit"]: entry for entry in document("hardware_units")["coalescing_units"]}
    added = {name: entry["added_um2"] for name, entry in units.items()}
    off, on = (record("hardware", "units", unit="datapath")[which]["logic_um2"] for which in ("before", "after"))
    yield "takes {} µm² without and {} with coalescing, {} % more", off, on, 100 * (on / off - 1)
    yield "The mask buffer is two thirds of what the units of `narrow` add", Within(
        0.62, added["mask_buffer"] / sum(added.values()), 0.7)
    arbiter = units["coalescing_arbiter"]
    yield "The arbiter takes {} times as long", arbiter["delay_ratio"]
    yield "at seven times its size", Within(6.5, arbiter["area_ratio"], 7.5)
    corf = {entry["unit"]: entry["combinational_um2"] + entry["sequential_um2"]
            for entry in document("hardware_units")["corf_units"]}
    yield ("takes {} µm² (the mask buffer takes {}), a map and its allocator {} for each of four banks, "
           "and the rename table {} beside {} Kibit", corf["mask_table"], added["mask_buffer"], corf["allocator"],
           corf["rename_table"], record("hardware_units", "corf_units", unit="rename_table")["sram_bits"] / 1024)
