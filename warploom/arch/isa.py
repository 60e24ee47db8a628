"""The machine's instruction set: operations, modifiers, and the pipe and timing class of each operation.

At most three warp registers are read and one written. An operand slot may instead hold a 32-bit immediate or a word of
the parameter bank (both uniform across the warp). Predicates P0..P6 are 32-bit lane masks; PT is always true.
Operations on 64-bit values follow the *beat* rule, see `Op.LATCH`.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from operator import attrgetter

from warploom.arch.modifiers import (
    MODIFIER_KINDS,
    Access,
    Atom,
    Combine,
    Cond,
    DType,
    Function,
    Rounding,
    Shuffle,
    Space,
    Special,
    Test,
    Vote,
)

RZ = 255
"""The register that reads zero, discards writes, and costs no access."""

GENERAL_REGISTERS = RZ
"""Registers of a thread, all others."""

PT = 7
"""The predicate that is always true and discards writes."""

NO_SLOT = 3
"""Value of `Instruction.imm_slot` when the instruction has no immediate operand."""

PC_BITS = 24

NO_RECONVERGENCE = (1 << PC_BITS) - 1
"""`Instruction.reconverge` of a branch whose sides join only at the exit of the kernel."""


class Pipe(IntEnum):
    """The kind of pipe that executes an instruction. CONTROL never enters the datapath."""

    SP = 0  # integer lanes in hardware; single-precision floating point served from outside
    SFU = 1  # special functions, division, double precision
    MEM = 2  # loads, stores, atomics, shuffles
    CONTROL = 3  # branches, barriers, predicate logic: the front end


KINDS = (Pipe.SP, Pipe.SFU, Pipe.MEM)
"""The kinds of pipes in the datapath, in order."""


class TimingClass(IntEnum):
    """Classes of operations with one latency and one interval (`PipeConfig.classes`)."""

    INT_ADD = 0
    INT_MAX = 1
    INT_MUL = 2
    INT_MAD = 3
    FP_ADD = 4
    FP_MAX = 5
    FP_MUL = 6
    FP_MAD = 7
    INT_DIV = 8
    FP_DIV = 9
    DP_ADD = 10
    DP_MAX = 11
    DP_MUL = 12
    DP_MAD = 13
    DP_DIV = 14
    SFU = 15
    MEM = 16

    @property
    def pipe(self) -> Pipe:
        """The pipe that executes instructions of the class."""
        if self is TimingClass.MEM:
            return Pipe.MEM
        return Pipe.SP if self <= TimingClass.FP_MAD else Pipe.SFU


class Op(IntEnum):
    """Operations. a, b, c are operand slots 0..2; every value is 32 bits unless said otherwise."""

    # integer, in hardware (pipe SP)
    MOV = 0  # a
    IADD = 1  # a + b + psrc; pdst = carry out
    ISUB = 2  # a - b - psrc; pdst = borrow out
    IMUL = 3  # low or (`high`) high word of a * b; `signed`
    IMAD = 4  # low or (`high`) high word of a * b, + c + psrc; pdst = carry out of the addition
    IMIN = 5  # `signed`
    IMAX = 6
    LOP3 = 7  # bit (a << 2 | b << 1 | c) of `lut`, for each bit position
    SHF = 8  # funnel shift of b:a by c: high word of b:a << n, or (`right`) low word of b:a >> n;
    #          n = min(c, 32), or (`wrap`) c & 31; with `signed` (right only) b is the sign of a
    PRMT = 9  # bytes of b:a chosen by the four low nibbles of c; bit 3 of a nibble replicates the byte's sign
    BMSK = 10  # ((1 << n(b)) - 1) << n(a), n as in SHF
    POPC = 11  # ones in a
    FLO = 12  # position of the leading one of a, all ones if a is 0
    BREV = 13  # bits of a reversed
    ISETP = 14  # pdst = (a cond b) combine psrc; `signed`
    SEL = 15  # psrc ? a : b
    # served from outside, pipe SP
    S2R = 16  # the special register `special`
    # `sync`, here, in MATCH, REDUX and SHFL: it is an error if a lane on which a result depends is elsewhere
    VOTE = 17  # psrc over executing lanes in mask a: pdst for all, any, uni; dst for ballot
    FADD = 18  # a + b; `rounding`, `ftz`, `sat`, here and below
    FMUL = 19  # a * b
    FFMA = 20  # a * b + c
    FMIN = 21  # `nan`: a NaN operand wins; `xorsign`: min of magnitudes, sign of a ^ b
    FMAX = 22
    FSETP = 23  # pdst = (a cond b) combine psrc
    CVT = 24  # convert `src_type` to `dst_type` (narrow: extended to 32 bits); `integral`: float to integral value
    TESTP = 25  # pdst = a has the property `test`; `double`: the f64 in b:a (then pipe SFU)
    MATCH = 26  # lanes of mask c with equal b:a (`wide`) or a; `match_all`: all or nothing, pdst
    REDUX = 27  # reduction of a over executing lanes in mask b: `atom` operator, `src_type`
    DP4A = 28  # c + sum of four byte products of a and b; src_type of a, dst_type of b (U8 or S8)
    # served from outside, pipe SFU
    MUFU = 32  # approximate `function` of a
    FDIV = 33  # a / b, correctly rounded
    FRCP = 34  # 1 / a
    FSQRT = 35
    IDIV = 36  # a / b toward zero; `signed`
    IREM = 37
    LDIV = 38  # 64-bit a / b, latched: a in the latch, b in b:a of this instruction
    LREM = 39
    DADD = 40  # double precision, latched: a in the latch
    DMUL = 41
    DFMA = 42  # latch holds a.lo, a.hi, b.lo; operands here are b.hi, c.lo, c.hi
    DMIN = 43
    DMAX = 44
    DSETP = 45  # latched; pdst
    DDIV = 46
    DRCP = 47  # not latched: the value is in b:a
    DSQRT = 48
    # pipe MEM; an address is b:a (`wide`) or a, plus imm as a signed offset
    LD = 52  # `space`, `access`
    ST = 53  # the value is in c
    ATOM = 54  # `atom`, `dst_type` (type of the value): old value to dst; 32-bit value in c;
    #           64-bit value and CAS are latched: see `is_latched`
    RED = 55  # ATOM without a result
    SHFL = 56  # a from the lane named by b, clamp and segment mask in c; pdst = source lane in range
    # beats
    LATCH = 60  # leave a, b, c in the unit's latch (of pipe SFU, or MEM with `memory`) for the next instruction
    HIGH = 61  # dst = high word of the unit's last 64-bit result (of pipe SFU, or MEM with `memory`)
    # control, in the front end
    BRA = 64  # to instruction imm; sides meet at `reconverge`; with `taken_first` the taken side runs first
    EXIT = 65
    BAR = 66  # barrier a immediate (imm), `count` threads (0: the whole block); with `arrive` the warp does not wait
    BARRED = 67  # barrier with reduction of psrc: `vote` ALL, ANY to pdst; POPC to dst
    MEMBAR = 68  # wait until the warp's memory instructions are done
    PLOP3 = 69  # pdst = bit (p << 2 | q << 1 | r) of `lut`; p, q, r are predicate numbers in slots 0..2
    TRAP = 70  # stop the kernel with an error; if imm > 0 its message is `Program.stops[imm - 1]`
    NOP = 71
    LAUNCH = 72  # of a control processor: run the kernel of the launch block at b with a threads; dst = status


_ARITH = ("rounding", "ftz", "sat")
_EXTREME = ("ftz", "nan", "xorsign")
_ATOMIC = ("space", "atom", "dst_type", "wide")

MODIFIERS: dict[Op, tuple[str, ...]] = {
    Op.IMUL: ("high", "signed"), Op.IMAD: ("high", "signed"), Op.IMIN: ("signed",), Op.IMAX: ("signed",),
    Op.LOP3: ("lut",), Op.SHF: ("right", "wrap", "signed"), Op.BMSK: ("wrap",),
    Op.ISETP: ("cond", "combine", "signed"), Op.S2R: ("special",), Op.VOTE: ("vote", "sync"),
    Op.FADD: _ARITH, Op.FMUL: _ARITH, Op.FFMA: _ARITH, Op.FMIN: _EXTREME, Op.FMAX: _EXTREME,
    Op.FSETP: ("cond", "combine", "ftz"), Op.CVT: ("dst_type", "src_type", "integral", *_ARITH),
    Op.TESTP: ("test", "double"), Op.MATCH: ("match_all", "wide", "sync"), Op.REDUX: ("atom", "src_type", "sync"),
    Op.DP4A: ("src_type", "dst_type"), Op.MUFU: ("function", "ftz"),
    Op.FDIV: ("rounding", "ftz"), Op.FRCP: ("rounding", "ftz"), Op.FSQRT: ("rounding", "ftz"),
    Op.IDIV: ("signed",), Op.IREM: ("signed",), Op.LDIV: ("signed",), Op.LREM: ("signed",),
    Op.DADD: ("rounding",), Op.DMUL: ("rounding",), Op.DFMA: ("rounding",), Op.DDIV: ("rounding",),
    Op.DRCP: ("rounding",), Op.DSQRT: ("rounding",), Op.DSETP: ("cond", "combine"),
    Op.LD: ("space", "access", "wide"), Op.ST: ("space", "access", "wide"), Op.ATOM: _ATOMIC, Op.RED: _ATOMIC,
    Op.SHFL: ("shuffle", "sync"), Op.LATCH: ("memory",), Op.HIGH: ("memory",), Op.BRA: ("taken_first", "reconverge"),
    Op.BAR: ("count", "arrive"), Op.BARRED: ("count", "vote"), Op.PLOP3: ("lut",),
}
"""Legal modifiers of each operation, in encoding order; operations that are not listed have none."""

_MODIFIER_NAMES = tuple(MODIFIER_KINDS)
_modifiers_of = attrgetter(*_MODIFIER_NAMES)

_LIMITED = ("dst", "guard", "pdst", "psrc", "imm", "imm_slot")
_limited_of = attrgetter(*_LIMITED)
_LIMITED_NAMES = (*_LIMITED, "src", "src", "src")
_LIMITS = (255, 7, 7, 7, 0xFFFFFFFF, 3, 255, 255, 255)

BARRIERS = 16
"""Barriers of a block, numbered from 0."""

MEMORY_OPS = (Op.LD, Op.ST, Op.ATOM, Op.RED)
"""Operations that access memory; their immediate field is an offset."""

INTEGER_OPS = frozenset(op for op in Op if op <= Op.SEL)
"""Operations that the hardware's integer lanes execute."""

_LATCHED = frozenset({Op.LDIV, Op.LREM, Op.DADD, Op.DMUL, Op.DFMA, Op.DMIN, Op.DMAX, Op.DSETP, Op.DDIV})
_TIMING = {
    Op.IMIN: TimingClass.INT_MAX, Op.IMAX: TimingClass.INT_MAX, Op.IMUL: TimingClass.INT_MUL,
    Op.IMAD: TimingClass.INT_MAD, Op.DP4A: TimingClass.INT_MAD, Op.FMIN: TimingClass.FP_MAX,
    Op.FMAX: TimingClass.FP_MAX, Op.FMUL: TimingClass.FP_MUL, Op.FFMA: TimingClass.FP_MAD, Op.MUFU: TimingClass.SFU,
    Op.FDIV: TimingClass.FP_DIV, Op.FRCP: TimingClass.FP_DIV, Op.FSQRT: TimingClass.FP_DIV,
    Op.IDIV: TimingClass.INT_DIV, Op.IREM: TimingClass.INT_DIV, Op.LDIV: TimingClass.INT_DIV,
    Op.LREM: TimingClass.INT_DIV, Op.DMUL: TimingClass.DP_MUL, Op.DFMA: TimingClass.DP_MAD,
    Op.DMIN: TimingClass.DP_MAX, Op.DMAX: TimingClass.DP_MAX, Op.DDIV: TimingClass.DP_DIV,
    Op.DRCP: TimingClass.DP_DIV, Op.DSQRT: TimingClass.DP_DIV, Op.LATCH: TimingClass.SFU, Op.HIGH: TimingClass.SFU,
}


def is_latched(op: Op, atom: Atom, dst_type: DType) -> bool:
    """True for operations whose first operands are in a latch, stored by the LATCH before them.

    ATOM and RED: CAS of 32 bits latches address low, address high (or RZ), compare value, and takes the new value in
    slot 0. A 64-bit operand latches address low, address high, compare low (CAS), and takes compare high, value low,
    value high; without CAS value low, value high in slots 0 and 1.
    """
    if op in (Op.ATOM, Op.RED):
        return atom is Atom.CAS or dst_type.is_wide
    return op in _LATCHED


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One machine instruction. Raises `ValueError` if a field is out of range or not legal for the operation.

    `src` holds three register numbers (RZ where unused). When `imm_slot` is 0..2 that slot is the 32-bit `imm` instead,
    or, with `param`, the word at byte offset `imm` of the parameter bank. Memory operations use `imm` as a signed byte
    offset, control operations as a target or barrier number. An *executing* lane is an active lane whose `guard` holds;
    `psrc` (inverted by `psrc_not`) is the predicate operand. For IADD, ISUB and IMAD it is the carry or borrow in, and
    PT means none. `to_collector` and `to_file` are hints for bypassing collectors: whether the value of `dst` is needed
    in the collector, and in the register file. They change no result.
    """

    op: Op
    dst: int = RZ
    src: tuple[int, int, int] = (RZ, RZ, RZ)
    guard: int = PT
    guard_not: bool = False
    pdst: int = PT
    psrc: int = PT
    psrc_not: bool = False
    imm: int = 0
    imm_slot: int = NO_SLOT
    param: bool = False
    to_collector: bool = True
    to_file: bool = True
    signed: bool = False
    high: bool = False
    right: bool = False
    wrap: bool = False
    ftz: bool = False
    sat: bool = False
    nan: bool = False
    xorsign: bool = False
    integral: bool = False
    double: bool = False
    match_all: bool = False
    wide: bool = False
    sync: bool = False
    memory: bool = False
    taken_first: bool = False
    arrive: bool = False
    lut: int = 0
    cond: Cond = Cond.EQ
    combine: Combine = Combine.AND
    rounding: Rounding = Rounding.RN
    special: Special = Special.TID_X
    vote: Vote = Vote.ALL
    test: Test = Test.FINITE
    dst_type: DType = DType.U8
    src_type: DType = DType.U8
    atom: Atom = Atom.ADD
    function: Function = Function.RCP
    space: Space = Space.GENERIC
    access: Access = Access.U8
    shuffle: Shuffle = Shuffle.UP
    count: int = 0
    reconverge: int = 0

    def __post_init__(self) -> None:
        for name, value, limit in zip(_LIMITED_NAMES, (*_limited_of(self), *self.src), _LIMITS, strict=True):
            if not 0 <= value <= limit:
                raise ValueError(f"{self.op.name}: {name} = {value} is outside 0..{limit}")
        legal = MODIFIERS.get(self.op, ())
        for name, value in zip(_MODIFIER_NAMES, _modifiers_of(self), strict=True):
            if not value:
                continue
            if name not in legal:
                raise ValueError(f"{self.op.name} does not take the modifier {name}")
            if not 0 <= int(value) < 1 << (bits := MODIFIER_KINDS[name].bits):
                raise ValueError(f"{self.op.name}: {name} = {value} does not fit {bits} bits")

    @cached_property
    def pipe(self) -> Pipe:
        """The pipe that executes this instruction."""
        if self.op >= Op.BRA:
            return Pipe.CONTROL
        if self.op in (Op.LATCH, Op.HIGH):
            return Pipe.MEM if self.memory else Pipe.SFU
        if self.op >= Op.LD:
            return Pipe.MEM
        if self.op >= Op.MUFU or self.double:
            return Pipe.SFU
        wide_cvt = self.op is Op.CVT and (self.dst_type.is_wide or self.src_type.is_wide)
        return Pipe.SFU if wide_cvt else Pipe.SP

    @cached_property
    def timing_class(self) -> TimingClass:
        """Row of the latency table; not for CONTROL."""
        if self.pipe is Pipe.MEM:
            return TimingClass.MEM
        if self.op in _TIMING:
            return _TIMING[self.op]
        if self.pipe is Pipe.SFU:
            return TimingClass.DP_ADD
        return TimingClass.INT_ADD if self.op <= Op.VOTE else TimingClass.FP_ADD

    @cached_property
    def latched(self) -> bool:
        """True when the instruction before it must be a LATCH that holds its first operands, see `is_latched`."""
        return is_latched(self.op, self.atom, self.dst_type)

    @cached_property
    def sources(self) -> tuple[int, ...]:
        """Registers that are read, without RZ, immediates and repeats, in slot order."""
        if self.pipe is Pipe.CONTROL:
            return ()
        read = [s for slot, s in enumerate(self.src) if s != RZ and slot != self.imm_slot]
        return tuple(dict.fromkeys(read))

    @property
    def guarded(self) -> bool:
        """Whether it has a guard, so that active lanes may not execute it."""
        return self.guard != PT or self.guard_not

    @cached_property
    def predicates_read(self) -> frozenset[int]:
        """Predicate registers that are read, without PT."""
        read = {self.guard, self.psrc, *(self.src if self.op is Op.PLOP3 else ())}
        return frozenset(p for p in read if p < PT)
