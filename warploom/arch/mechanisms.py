"""What a streaming multiprocessor can be made of: one enumeration for each choice of `SmConfig`."""

from enum import StrEnum


class Scheduler(StrEnum):
    """How a warp scheduler chooses among ready warps."""

    LRR = "lrr"  # loose round robin
    GTO = "gto"  # greedy, then oldest
    TWO_LEVEL = "two_level"  # a small active set, refilled when a member waits on memory


class Layout(StrEnum):
    """Register-to-bank mapping ([RADAIDEH], Fig. 3.10); the formulas are in `warploom.arch.layout`."""

    WID = "wid"  # all registers of a warp in one bank
    WSHIFT = "wshift"  # registers of a warp interleaved across the banks


class Coalescing(StrEnum):
    """How the register file shares a bank access between narrow operands ([RADAIDEH], chapter 3)."""

    OFF = "off"  # one request for each bank and collector a cycle
    ON = "on"  # any two requests whose bytes do not meet
    CORF = "corf"  # two reads of one instruction, packed in one entry; golden model only
    CORF_PLUS = "corf_plus"  # CORF++: also two entries of opposite alignment; golden model only


class Alignment(StrEnum):
    """On which side of its entry a narrow register lies, with `Coalescing.ON` ([RADAIDEH], section 3.7.1)."""

    REG = "reg"  # even registers right, odd ones left
    WRITE = "write"  # the other side with each full write
    IDEAL = "ideal"  # sides never conflict, only widths count; golden model only
    UPPER_BOUND = "upper_bound"  # neither sides nor widths conflict; golden model only


class Gating(StrEnum):
    """What is not read, written or computed ([RADAIDEH], chapter 4). Each includes the one before."""

    OFF = "off"
    ACTIVE = "active"  # columns and lanes that no executing lane needs
    IN_LANE = "in_lane"  # lanes that are zero, by a zero mask with a bit for each lane; trivial operations
    CROSS_LANE = "cross_lane"  # also bytes that are zero in four neighbouring lanes

    @property
    def has_zero_mask(self) -> bool:
        """Whether a zero mask is kept for each warp register."""
        return self in (Gating.IN_LANE, Gating.CROSS_LANE)


class Bypass(StrEnum):
    """How values pass from one instruction of a warp to the next without the register file ([BOW], section IV)."""

    OFF = "off"
    BOW = "bow"  # a collector for each warp keeps what its last instructions read and wrote; write-through
    BOW_WR = "bow_wr"  # write-back: a value overwritten in the window is never written to the register file
    BOW_HINTS = "bow_hints"  # also, the compiler tells of each result whether collector or register file need it
    RFC = "rfc"  # a register file cache beside the register file; golden model only

    @property
    def has_window(self) -> bool:
        """Whether collectors belong to warps and keep a window of instructions."""
        return self in (Bypass.BOW, Bypass.BOW_WR, Bypass.BOW_HINTS)

    @property
    def has_hints(self) -> bool:
        """Whether instructions carry the compiler's hints."""
        return self is Bypass.BOW_HINTS

    @property
    def writes_back(self) -> bool:
        """Whether collectors hold values that the register file does not have."""
        return self in (Bypass.BOW_WR, Bypass.BOW_HINTS)


class Affine(StrEnum):
    """What executes once for a warp, on values that are base + lane * stride ([AFFINE], section 4)."""

    OFF = "off"  # every lane for itself
    A = "a"  # arithmetic, and uniform loads of constants
    AB = "ab"  # also comparisons, of which branches are made
    ABM = "abm"  # also loads find their addresses without a collector

    @property
    def is_on(self) -> bool:
        """Whether there is an affine register file."""
        return self is not Affine.OFF

    @property
    def has_branches(self) -> bool:
        """Whether comparisons are resolved from the first and the last lane."""
        return self in (Affine.AB, Affine.ABM)

    @property
    def has_memory(self) -> bool:
        """Whether loads with a compact address skip operand collection and coalescer."""
        return self is Affine.ABM
