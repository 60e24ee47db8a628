"""`SmFields`: the parameters of one streaming multiprocessor, and what each of its switches means for shared parts."""

from dataclasses import dataclass, field

from warploom.arch.mechanisms import (
    SWITCHES,
    Affine,
    Alignment,
    Bypass,
    Coalescing,
    Gating,
    Hinting,
    Layout,
    ReadArbiter,
    Renaming,
    Saturation,
    Scheduler,
    Switch,
    Transient,
    WindowDelay,
)
from warploom.arch.parameters import AFFINE, GTX_480, KEY, OURS, PARTS, TABLE_3_5, Parameter, choice, number
from warploom.arch.pipes import NARROW_PIPES, PIPES, PipeConfig

FRONT_END, REGISTER_FILE, OPERANDS, _, MEMORY, _, ENGINE = PARTS


@dataclass(frozen=True, kw_only=True)
class SmFields:
    """The parameters. Shared parts ask for what they need by the properties, and not for a mechanism."""

    name: str = "narrow"

    warps: int = number(48, FRONT_END, "warp slots", (1, 64), TABLE_3_5)
    blocks: int = number(8, FRONT_END, "thread block slots", (1, 32), TABLE_3_5)
    schedulers: int = number(2, FRONT_END, "warp schedulers, which share the warps evenly", (1, 4), TABLE_3_5)
    issue_ports: int = number(
        1, FRONT_END, "issue ports, which the schedulers share evenly", (1, 4), OURS, is_power=True)
    issue_per_warp: int = number(
        1, FRONT_END, "instructions of a warp that may issue in a cycle; with a window 1", (1, 2), "[BOW], section II")
    scheduler: Scheduler = choice(SWITCHES["scheduler"])
    active_warps: int = number(
        8, FRONT_END, "warps in the active set (two_level), or in a group (launch hint 3, cta_aware)",
        (1, 64), OURS)
    front_end_interval: int = number(
        1, FRONT_END, "cycles of the datapath to one of the schedulers", (1, 8), AFFINE, unit="cycles")
    hints: Hinting = choice(SWITCHES["hints"])

    banks: int = number(4, REGISTER_FILE, "register banks", (1, 32), TABLE_3_5, is_power=True)
    rows: int = number(256, REGISTER_FILE, "warp registers of one bank", (16, 4096), TABLE_3_5, is_power=True)
    layout: Layout = choice(SWITCHES["layout"])
    coalescing: Coalescing = choice(SWITCHES["coalescing"])
    alignment: Alignment = choice(SWITCHES["alignment"])
    gating: Gating = choice(SWITCHES["gating"])
    bank_ports: int = number(1, REGISTER_FILE, "1: a port that reads or writes; 2: one to read, one to write", (1, 2),
                             OURS)
    read_arbiter: ReadArbiter = choice(
        Switch("read_arbiter", ReadArbiter.WAVEFRONT, REGISTER_FILE, "how banks and collectors of reads are matched",
               OURS))
    tfet_rows: int = number(0, REGISTER_FILE, "TFET rows of each bank, the last ones; an access takes two cycles",
                            (0, 4096), "[TFET]")
    renaming: Renaming = choice(SWITCHES["renaming"])
    drowsy: int = number(0, REGISTER_FILE, "to wake the registers of a warp that waited for memory; 0: all stay awake",
                         (0, 64), "[TFET]", unit="cycles")

    collectors: int = number(4, OPERANDS, "operand collectors; with a window one for each warp", (1, 64), TABLE_3_5)
    arrival_delay: int = number(
        1, OPERANDS, "from an instruction's last operand to its dispatch, at least", (0, 1), OURS,
        unit="cycles")
    turnaround: int = number(
        1, OPERANDS, "from a dispatch to the collector's next instruction, at least", (0, 1), OURS,
        unit="cycles")
    dispatch_delay: int = number(
        0, OPERANDS, "from the choice of a window's instruction to its dispatch", (0, 1), OURS, unit="cycles")
    window_delay: WindowDelay = choice(
        Switch("window_delay", WindowDelay.AUTO, OPERANDS, "whether requests and evictions of a window wait a cycle; "
               "auto: with coalescing, with gating if it writes back, and if read_arbiter is pipelined", OURS))
    sfu_collectors: int = number(
        0, OPERANDS, "collectors of SFU alone, of all; 0: the general ones serve it; with a window 0", (0, 63), OURS)
    mem_collectors: int = number(
        0, OPERANDS, "collectors of MEM alone, of all; 0: the general ones serve it; with a window 0", (0, 63), OURS)
    bypass: Bypass = choice(SWITCHES["bypass"])
    window: int = number(3, OPERANDS, "instructions of a warp among which values are bypassed", (2, 8), "[BOW]")
    entries: int = number(
        12, OPERANDS, "warp registers that a collector keeps; two or four for each instruction", (4, 32), "[BOW]")
    transient: Transient = choice(SWITCHES["transient"])

    pipes: tuple[PipeConfig, ...] = field(
        default=NARROW_PIPES, metadata={KEY: Parameter(PIPES, "the execution pipes, a list", GTX_480)})

    shared_bytes: int = number(49152, MEMORY, "shared memory", (0, 1 << 20), TABLE_3_5, unit="bytes")
    shared_banks: int = number(32, MEMORY, "banks of shared memory", (1, 128), GTX_480, is_power=True)
    shared_latency: int = number(26, MEMORY, "shared memory, from request to data", (1, 1023), GTX_480, unit="cycles")
    l1_sets: int = number(32, MEMORY, "sets of the L1 cache", (1, 1024), TABLE_3_5, is_power=True)
    l1_ways: int = number(4, MEMORY, "ways of the L1 cache", (1, 32), TABLE_3_5)
    line_bytes: int = number(128, MEMORY, "cache line", (32, 256), GTX_480, unit="bytes", is_power=True)
    l1_latency: int = number(35, MEMORY, "L1 cache, from request to data of a hit", (1, 1023), GTX_480, unit="cycles")
    mshrs: int = number(32, MEMORY, "lines that may be missing at once", (1, 1024), GTX_480)
    mshr_merges: int = number(8, MEMORY, "requests that wait for one line", (1, 64), GTX_480)
    memory_latency: int = number(
        220, MEMORY, "beyond the L1: L2 round trip and DRAM", (1, 10000), GTX_480, unit="cycles")
    memory_interval: int = number(
        4, MEMORY, "between lines from beyond the L1: this SM's share of the bandwidth", (1, 1000), OURS, unit="cycles")
    saturation: Saturation = choice(SWITCHES["saturation"])

    affine: Affine = choice(SWITCHES["affine"])

    engine_lanes: int = number(8, ENGINE, "lanes of the FG-SIMT engine", (1, 8), AFFINE, is_power=True)

    @property
    def has_sides(self) -> bool:
        """Whether a warp register is stored on the right or the left of its row, so that a bank takes an access on
        each side."""
        return self.coalescing is Coalescing.ON

    @property
    def packs_registers(self) -> bool:
        """Whether two registers of an instruction may be packed in one row."""
        return self.coalescing in (Coalescing.CORF, Coalescing.CORF_PLUS)

    @property
    def packs_across(self) -> bool:
        """Whether two rows of opposite alignment may be read at once if registers are packed."""
        return self.coalescing is Coalescing.CORF_PLUS

    @property
    def stores_sides(self) -> bool:
        """Whether the side of a register is stored, and does not follow from its number."""
        return self.alignment is Alignment.WRITE

    @property
    def has_zero_mask(self) -> bool:
        """Whether each warp register has a zero mask."""
        return self.gating.has_zero_mask

    @property
    def zeros_by_granule(self) -> bool:
        """Whether zero masks are by byte position in groups of lanes, and not by lane."""
        return self.gating is Gating.CROSS_LANE

    @property
    def gates_columns(self) -> bool:
        """Whether columns of banks and of operand registers are enabled one by one."""
        return self.gating is not Gating.OFF

    @property
    def has_window(self) -> bool:
        """Whether each warp has its own collector, with the registers of its last instructions."""
        return self.bypass.has_window

    @property
    def has_window_delay(self) -> bool:
        """Whether requests and evictions of a window wait in registers."""
        if self.window_delay is WindowDelay.AUTO:
            needed = self.has_sides or (self.gates_columns and self.writes_back) or self.selects_reads
        else:
            needed = self.window_delay is WindowDelay.ON
        return self.has_window and needed

    @property
    def passes_storage(self) -> bool:
        """Whether an operand may be dispatched in the cycle in which it arrives, past the storage of its collector."""
        return not (self.arrival_delay or self.dispatch_delay)

    @property
    def yields_to_pending(self) -> bool:
        """Whether reads give way to the writes of all latches, those that are not granted among them."""
        return self.has_window_delay and self.has_sides

    @property
    def selects_reads(self) -> bool:
        """Whether banks select a read in one cycle and grant it in a later one."""
        return self.read_arbiter is ReadArbiter.PIPELINED

    @property
    def has_register_cache(self) -> bool:
        """Whether there is a register file cache."""
        return self.bypass is Bypass.RFC

    @property
    def writes_back(self) -> bool:
        """Whether collectors hold values that the register file does not have."""
        return self.bypass.writes_back

    @property
    def has_hints(self) -> bool:
        """Whether instructions carry the compiler's hints for their results."""
        return self.bypass.has_hints

    @property
    def reorders(self) -> bool:
        """Whether a warp that waits for memory goes on by the compiler's hints."""
        return self.hints in (Hinting.ON, Hinting.SHORT_COPIES)

    @property
    def has_short_copies(self) -> bool:
        """Whether copies of renamed results skip the execution stages."""
        return self.hints is Hinting.SHORT_COPIES

    @property
    def searches(self) -> bool:
        """Whether a warp that waits for memory goes on with what its hardware finds."""
        return self.hints is Hinting.PREEXECUTION

    @property
    def gives_priority(self) -> bool:
        """Whether one warp's memory instructions go first while memory is saturated."""
        return self.saturation is Saturation.MASCAR

    @property
    def renames(self) -> bool:
        """Whether registers are renamed into rows of their bank."""
        return self.renaming is not Renaming.OFF

    @property
    def predicts_stalls(self) -> bool:
        """Whether there is a stall predictor."""
        return self.renaming is Renaming.MEM_RA

    @property
    def has_unallocated(self) -> bool:
        """Whether there are registers without a row in the register file, for transient values."""
        return self.transient is Transient.ON

    @property
    def has_compact_slots(self) -> bool:
        """Whether an instruction may get base and stride of a source instead of reading it."""
        return self.affine.is_on

    @property
    def has_address_slot(self) -> bool:
        """Whether loads with a compact address wait for dispatch in an address slot, without operand storage. With a
        window they wait in the collector of their warp."""
        return self.affine.has_memory and not self.bypass.has_window

    @property
    def has_pairs(self) -> bool:
        """Whether two instructions of a warp may issue in a cycle."""
        return self.issue_per_warp > 1
