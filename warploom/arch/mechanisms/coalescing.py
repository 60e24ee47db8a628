"""Coalescing: narrow operands are stored in as few sub-banks as they need, and may share an access to their bank
([RADAIDEH], chapter 3)."""

from enum import StrEnum

from warploom.arch.mechanisms.baseline import Layout
from warploom.arch.mechanisms.descriptor import (
    ARBITER,
    CONFIG,
    MATRIX,
    POISON,
    ROWS,
    Conflict,
    Core,
    Mechanism,
    ModelOnly,
    Overhead,
    Points,
    PortField,
    Runs,
    Switch,
    Unit,
)


class Coalescing(StrEnum):
    """How the register file shares a bank access between narrow operands ([RADAIDEH], chapter 3)."""

    OFF = "off"  # one request for each bank and collector a cycle
    ON = "on"  # any two requests whose sub-banks do not overlap
    CORF = "corf"  # two reads of one instruction, packed in one entry; golden model only
    CORF_PLUS = "corf_plus"  # CORF++: also two entries of opposite alignment; golden model only


class Alignment(StrEnum):
    """The side of its entry on which a narrow register is stored, with `Coalescing.ON` ([RADAIDEH], section 3.7.1)."""

    REG = "reg"  # even registers right, odd ones left
    PARITY = "parity"  # the same, the other way round in every other row of a warp; golden model only
    WRITE = "write"  # for each warp, the other side with each full write
    IDEAL = "ideal"  # sides never conflict, only widths count; golden model only
    UPPER_BOUND = "upper_bound"  # neither sides nor widths conflict; golden model only

    @property
    def has_sides(self) -> bool:
        """Whether sides conflict."""
        return self not in BOUNDS


IN_HARDWARE = (Alignment.REG, Alignment.WRITE)
BOUNDS = (Alignment.IDEAL, Alignment.UPPER_BOUND)
"""Alignments that are upper bounds, in the golden model only."""

ON = (("coalescing", (Coalescing.ON,)),)


def _bounded(field: str, others: tuple[str, ...], reason: str) -> Conflict:
    """A mechanism that cannot be combined with the bounds of alignment."""
    return Conflict(field, others, "alignment", BOUNDS, f"{reason}; use alignment = reg or write")


COALESCING = Mechanism(
    name="coalescing",
    strongest="coalescing=on",
    switches=(
        Switch("coalescing", Coalescing.OFF, "register_file", "how narrow operands share a bank access",
               "[RADAIDEH], chapter 3"),
        Switch("alignment", Alignment.REG, "register_file", "on which side of its entry a narrow register lies",
               "[RADAIDEH], section 3.7.1"),
    ),
    conflicts=(
        Conflict("alignment", (Alignment.PARITY, Alignment.WRITE, *BOUNDS), "coalescing",
                 (Coalescing.OFF, Coalescing.CORF, Coalescing.CORF_PLUS),
                 "only coalescing = on gives registers a side"),
        _bounded("gating", ("active", "in_lane", "cross_lane"), "a bound has no columns to gate"),
        _bounded("bypass", ("bow", "bow_wr", "bow_hints", "rfc"),
                 "bounds are modelled with the baseline's collectors only"),
        _bounded("affine", ("a", "ab", "abm"), "bounds are modelled without the affine unit only"),
    ),
    model_only=(ModelOnly("alignment", BOUNDS, "a bound", "reg or write"),
                ModelOnly("alignment", (Alignment.PARITY,), "an experiment", "reg or write")),
    fields=(
        PortField("encoding", "size", bits=2, needs=ON), PortField("encoding", "sign", bits=1, needs=ON),
        PortField("result", "warp", counts="warps", needs=(*ON, ("alignment", (Alignment.WRITE,)))),
    ),
    units=(
        Unit("WidthDetector", "warploom.rtl.coalescing.width.WidthDetector"),
        Unit("WarpSides", "warploom.rtl.register_file.sides.WarpSides", CONFIG),
        Unit("MaskBuffer", "warploom.rtl.register_file.mask_buffer.MaskBuffer", CONFIG),
        Unit("OperandPath", "warploom.rtl.coalescing.alignment.OperandPath"),
        Unit("DualBank", "warploom.rtl.dual_bank.DualBank", ROWS, probe=POISON),
        Unit("CoalescingArbiter", "warploom.rtl.coalescing.arbiter.CoalescingArbiter", ARBITER),
        Unit("SlicedCrossbar", "warploom.rtl.coalescing.crossbar.SlicedCrossbar", MATRIX),
    ),
    cores=(
        Core("reg", ("coalescing=on", "alignment=reg"), is_long=True),
        Core("write", ("coalescing=on", "alignment=write"), is_long=True),
    ),
    coverage=(Points(("narrow write", "sign fill"), ON),),
    runs=(Runs(settings=("coalescing=on",), axes=(("layout", tuple(Layout)), ("alignment", IN_HARDWARE))),),
    full_size=(("coalescing=on",),),
    model_runs=tuple(f"coalescing=on alignment={bound}" for bound in BOUNDS),
    varied=("coalescing", "alignment"),
    words=("no coalescing", "coalescing by {config.alignment}"),
    is_on=(("coalescing", (Coalescing.ON, Coalescing.CORF, Coalescing.CORF_PLUS)),),
    bugs=("warploom.tb.coalescing.mutants.MUTANTS",),
    lockstep_bugs=("warploom.tb.coalescing.mutants.IN_LOCKSTEP",),
    overheads=(
        Overhead("hardware", "Table 3.4: overhead", "overheads",
                 "warploom.evaluation.hardware.overhead.coalescing_overheads"),
    ),
    names=("coalescing", "Coalescing"),
    folders=("coalescing", "narrow.py", "narrow_zero_masked.py"),
)
