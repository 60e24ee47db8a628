"""Numbers of the engine: entries of its queues, widths, latencies, and the causes of faults."""

from dataclasses import dataclass
from enum import IntEnum

from warploom.arch.errors import ConfigError
from warploom.arch.isa import PC_BITS, Op

THREADS = 32
"""Threads of a warp."""

LAST_PC = (1 << PC_BITS) - 1
"""Behind it comes PC 0; upper bits of the target of a branch are ignored."""

REGISTERS = 32
PREDICATES = 7
LINE = 32
"""Bytes of a line, and of an access over the wide port."""

FETCH_ENTRIES = 4
"""Entries of the fetch queue."""

FETCH_REQUESTS = 8
"""Requests for instructions that may be outstanding."""

DECODED_ENTRIES = 2
"""Decoded instructions of a kernel that wait for their execution."""

SHARED_LOADS = 64
SIQ_ENTRIES, SLWQ_ENTRIES, SMRRQ_ENTRIES = 4, 4, 8
STORED_AFTER = 7
"""Cycles from the issue of a vector load to the first one in which a word of it may be in its SLDQ."""

MULTIPLY_CYCLES = 3
"""What the host part needs for a product."""

UNIFORM_CYCLES = 4
"""What an attempt takes that follows rules of both ends, if all its operands are uniform, and a uniform load."""

AFFINE_CYCLES = 5
"""What such an attempt takes if an operand is not uniform: the stride of the result has a cycle of its own."""

DIVIDE_INTERVAL = 16

LATENCY = {
    **dict.fromkeys((Op.MOV, Op.IADD, Op.ISUB, Op.IMIN, Op.IMAX, Op.LOP3, Op.SHF, Op.PRMT, Op.BMSK, Op.POPC, Op.FLO,
                     Op.BREV, Op.ISETP, Op.SEL, Op.PLOP3, Op.S2R, Op.FMIN, Op.FMAX, Op.FSETP), 1),
    **dict.fromkeys((Op.FADD, Op.FMUL, Op.FFMA), 5),
    **dict.fromkeys((Op.CVT, Op.IMUL, Op.IMAD), 3),
    **dict.fromkeys((Op.FDIV, Op.FRCP, Op.FSQRT, Op.IDIV, Op.IREM), 20),
}
"""Cycles of execution of the operations of the arithmetic units."""

FIRST_SAU = frozenset({Op.FADD, Op.FMUL, Op.FFMA, Op.CVT})
"""Operations that only SAU0 executes."""

FLOAT_DIVISIONS = frozenset({Op.FDIV, Op.FRCP, Op.FSQRT})
DIVISIONS = FLOAT_DIVISIONS | {Op.IDIV, Op.IREM}
"""Operations of the divider, which also takes roots."""

SECOND_SAU = DIVISIONS | {Op.IMUL, Op.IMAD}
"""Operations that only SAU1 executes."""

LANE_COUNTS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Sizes:
    """An engine's lanes, and what follows from their number. Raises `ConfigError` for another number."""

    lanes: int = LANE_COUNTS[-1]

    def __post_init__(self) -> None:
        if self.lanes not in LANE_COUNTS:
            raise ConfigError(f"lanes = {self.lanes}: must be one of {', '.join(map(str, LANE_COUNTS))}")

    @property
    def lane_bits(self) -> int:
        """Width of the number of a lane."""
        return (self.lanes - 1).bit_length()

    @property
    def groups(self) -> int:
        """Groups of a warp, each of a thread in each lane: the cycles that a warp is in a unit."""
        return THREADS // self.lanes

    @property
    def group_bits(self) -> int:
        """Width of the number of a group."""
        return (self.groups - 1).bit_length()

    @property
    def rows(self) -> int:
        """Rows of the SMRQ: those of two instructions."""
        return 2 * self.groups

    @property
    def cp_port(self) -> int:
        """The number of the control processor's port."""
        return self.lanes

    @property
    def wide_port(self) -> int:
        """The number of the wide port."""
        return self.lanes + 1


EIGHT_LANES = Sizes()
"""The engine of the source."""


class Cause(IntEnum):
    """Why a kernel was stopped."""

    NONE = 0
    ILLEGAL = 1
    FETCH = 2
    BUS = 3
    MISALIGNED = 4
    TRAP = 5
    BARRIER = 6


def status(cause: Cause, pc: int) -> int:
    """The status word of a launch."""
    return cause << 24 | pc if cause else 0
