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

BYTES = (0x4440, 0x4441, 0x4442, 0x4443)
"""PRMT selectors of the bytes, zero-extended."""


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


@lowers("vabsdiff2", "vabsdiff4", types=("u32",), supports=".u32.u32.u32 on whole operands, .add", type_count=3)
def vabsdiff(e: Emitter) -> None:
    """vabsdiff2, vabsdiff4: absolute differences of halves or bytes; with .add their sum plus c."""
    if e.types != ["u32"] * 3:
        e.fail("supported: .u32.u32.u32")
    d, (a,), (b,), (c,) = e.unpack("u32", "u32", "u32", "u32")
    selectors = HALVES["u16x2"] if e.instruction.opcode == "vabsdiff2" else BYTES
    if e.flag("add"):
        total: Operand = c
        for selector in selectors:
            total = e.op(Op.IADD, total, _distance(e, a, b, selector))
        e.move(d, (total,))
        return
    parts = [_distance(e, a, b, selector) for selector in selectors]
    if len(parts) == 4:
        parts = [e.op(Op.PRMT, *parts[at:at + 2], constant(0x0040)) for at in (0, 2)]
    e.emit(Op.PRMT, d[0], *parts, constant(PACK))


def _distance(e: Emitter, a: Operand, b: Operand, selector: int) -> VirtualRegister:
    """The absolute difference of the parts that PRMT selects."""
    x, y = (e.op(Op.PRMT, value, None, constant(selector)) for value in (a, b))
    return e.op(Op.ISUB, e.op(Op.IMAX, x, y), e.op(Op.IMIN, x, y))
