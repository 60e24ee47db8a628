"""Modifiers of machine instructions: their types and their widths in the encoding."""

from enum import Enum, IntEnum


class Cond(IntEnum):
    """Comparisons; those from EQU on are true for unordered floats (NUM, NAN test for NaN)."""

    EQ, NE, LT, LE, GT, GE, NUM, NAN, EQU, NEU, LTU, LEU, GTU, GEU = range(14)


class Combine(IntEnum):
    """How a comparison is combined with `psrc`."""

    AND, OR, XOR = range(3)


class Rounding(IntEnum):
    """IEEE rounding: nearest even, toward zero, toward minus infinity, toward plus infinity."""

    RN, RZ, RM, RP = range(4)


class Space(IntEnum):
    """Address spaces. The windows of `warploom.arch.memory_map` give the space of a GENERIC address."""

    GENERIC, GLOBAL, SHARED, LOCAL, CONST, PARAM = range(6)


class Access(IntEnum):
    """Width of one memory access; narrow loads are zero- or sign-extended to 32 bits."""

    U8, S8, U16, S16, B32 = range(5)

    @property
    def size(self) -> int:
        """Width in bytes."""
        return (1, 1, 2, 2, 4)[self]


class DType(IntEnum):
    """Types of conversions, atomics and reductions. A 64-bit operand is a pair (low word first)."""

    U8, S8, U16, S16, U32, S32, U64, S64, F32, F64, F16, B16, BF16 = range(13)

    @property
    def is_wide(self) -> bool:
        """True for 64-bit types."""
        return self in (DType.U64, DType.S64, DType.F64)

    @property
    def is_half(self) -> bool:
        """True for the 16-bit floats, which only CVT has."""
        return self in (DType.F16, DType.BF16)


class Atom(IntEnum):
    """Read-modify-write operators."""

    ADD, MIN, MAX, INC, DEC, AND, OR, XOR, EXCH, CAS = range(10)


class Function(IntEnum):
    """Approximate functions of MUFU. RCP64H, RSQ64H: f64 in b:a, f64 result (see `Op.HIGH`)."""

    RCP, RSQ, SQRT, SIN, COS, LG2, EX2, TANH, RCP64H, RSQ64H = range(10)


class Vote(IntEnum):
    """Modes of VOTE and BARRED."""

    ALL, ANY, UNI, BALLOT, POPC = range(5)


class Shuffle(IntEnum):
    """Modes of SHFL."""

    UP, DOWN, BFLY, IDX = range(4)


class Test(IntEnum):
    """Properties of TESTP."""

    FINITE, INFINITE, NUMBER, NOTANUMBER, NORMAL, SUBNORMAL = range(6)


class Special(IntEnum):
    """Special registers of S2R."""

    TID_X, TID_Y, TID_Z, CTAID_X, CTAID_Y, CTAID_Z, NTID_X, NTID_Y, NTID_Z, NCTAID_X, NCTAID_Y, NCTAID_Z = range(12)
    LANEID, WARPID, NWARPID, SMID, NSMID, GRIDID_LO, GRIDID_HI, ACTIVEMASK = range(12, 20)
    LANEMASK_EQ, LANEMASK_LE, LANEMASK_LT, LANEMASK_GE, LANEMASK_GT = range(20, 25)
    CLOCK_LO, CLOCK_HI, GLOBALTIMER_LO, GLOBALTIMER_HI, DYNAMIC_SMEM, TOTAL_SMEM = range(25, 31)


class Kind(Enum):
    """The width of a modifier in the encoding, and its type: (bits, type)."""

    FLAG = (1, bool)
    COND = (4, Cond)
    COMBINE = (2, Combine)
    ROUNDING = (2, Rounding)
    SPACE = (3, Space)
    ACCESS = (3, Access)
    DTYPE = (4, DType)
    ATOM = (4, Atom)
    FUNCTION = (4, Function)
    VOTE = (3, Vote)
    SHUFFLE = (2, Shuffle)
    TEST = (3, Test)
    SPECIAL = (5, Special)
    BYTE = (8, int)
    COUNT = (11, int)
    TARGET = (24, int)

    @property
    def bits(self) -> int:
        """Width in the encoding."""
        return self.value[0]


MODIFIER_KINDS: dict[str, Kind] = {
    "signed": Kind.FLAG, "high": Kind.FLAG, "right": Kind.FLAG, "wrap": Kind.FLAG, "ftz": Kind.FLAG, "sat": Kind.FLAG,
    "nan": Kind.FLAG, "xorsign": Kind.FLAG, "integral": Kind.FLAG, "double": Kind.FLAG, "match_all": Kind.FLAG,
    "wide": Kind.FLAG, "sync": Kind.FLAG, "memory": Kind.FLAG, "taken_first": Kind.FLAG, "arrive": Kind.FLAG,
    "lut": Kind.BYTE,
    "cond": Kind.COND, "combine": Kind.COMBINE, "rounding": Kind.ROUNDING, "special": Kind.SPECIAL, "vote": Kind.VOTE,
    "test": Kind.TEST, "dst_type": Kind.DTYPE, "src_type": Kind.DTYPE, "atom": Kind.ATOM, "function": Kind.FUNCTION,
    "space": Kind.SPACE, "access": Kind.ACCESS, "shuffle": Kind.SHUFFLE, "count": Kind.COUNT, "reconverge": Kind.TARGET,
}
"""Every modifier an instruction can carry."""
