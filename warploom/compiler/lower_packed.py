"""Integers of 16 or 8 bits, two or four in a word, computed apart from each other."""

from warploom.arch.isa import Op
from warploom.compiler.emitter import Emitter, constant, is_signed
from warploom.compiler.ir import Operand, VirtualRegister
from warploom.compiler.lower_convert import PACK
from warploom.compiler.registry import lowers
from warploom.compiler.truth import AND

PAIRS = ("u16x2", "s16x2")

HALVES = {"u16x2": (0x4410, 0x4432), "s16x2": (0x9910, 0xBB32)}
"""PRMT selectors of the low and the high half, zero-extended or sign-extended."""


@lowers("add", types=PAIRS, supports=".u16x2 and .s16x2")
def add(e: Emitter) -> None:
    """add of two halves: nothing is carried into the upper one where that of one operand stands alone."""
    d, (a,), (b,) = e.unpack("b32", "b32", "b32")
    upper = e.op(Op.IADD, a, e.logic(AND, b, constant(0xFFFF0000)))
    e.emit(Op.PRMT, d[0], e.op(Op.IADD, a, b), upper, constant(0x7610))


@lowers("min", "max", types=PAIRS, supports=".u16x2 and .s16x2, .relu of signed ones")
def minmax(e: Emitter) -> None:
    """min, max of two halves."""
    op, signed = Op.IMIN if e.instruction.opcode == "min" else Op.IMAX, is_signed(e.type)
    d, (a,), (b,) = e.unpack("b32", "b32", "b32")
    relu = signed and e.flag("relu")
    halves = []
    for selector in HALVES[e.type]:
        half = e.op(op, *(e.op(Op.PRMT, value, None, constant(selector)) for value in (a, b)), signed=signed)
        halves.append(e.op(Op.IMAX, half, None, signed=True) if relu else half)
    e.emit(Op.PRMT, d[0], *halves, constant(PACK))


@lowers("vabsdiff4", types=("u32",), supports=".u32.u32.u32 on whole operands, .add", type_count=3)
def vabsdiff4(e: Emitter) -> None:
    """vabsdiff4: four absolute differences of bytes; with .add their sum plus c."""
    if e.types != ["u32"] * 3:
        e.fail("supported: .u32.u32.u32")
    d, (a,), (b,), (c,) = e.unpack("u32", "u32", "u32", "u32")
    if e.flag("add"):
        total: Operand = c
        for place in range(4):
            total = e.op(Op.IADD, total, _distance(e, a, b, place))
        e.move(d, (total,))
        return
    pairs = [[_distance(e, a, b, place) for place in places] for places in ((0, 1), (2, 3))]
    low, high = (e.op(Op.PRMT, *pair, constant(0x0040)) for pair in pairs)
    e.emit(Op.PRMT, d[0], low, high, constant(PACK))


def _distance(e: Emitter, a: Operand, b: Operand, place: int) -> VirtualRegister:
    """The absolute difference of the bytes at a place."""
    x, y = (e.op(Op.PRMT, value, None, constant(0x4440 | place)) for value in (a, b))
    return e.op(Op.ISUB, e.op(Op.IMAX, x, y), e.op(Op.IMIN, x, y))
