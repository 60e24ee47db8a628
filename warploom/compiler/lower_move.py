"""mov with its vector forms, and conversions between generic and state-space addresses."""

from warploom.arch import memory_map
from warploom.arch.isa import Op
from warploom.arch.modifiers import Cond
from warploom.compiler import ptx
from warploom.compiler.emitter import Emitter, Predicate, constant, width
from warploom.compiler.registry import lowers
from warploom.compiler.truth import AND, A

MOVABLE = ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64")

WINDOWS = {"shared": memory_map.SHARED_WINDOW, "local": memory_map.LOCAL_WINDOW, "const": memory_map.CONST_WINDOW,
           "param": memory_map.PARAM_WINDOW}
WINDOW_NAMES = {**{name: name for name in (*WINDOWS, "global")}, "shared::cta": "shared", "param::entry": "param"}


@lowers("mov", types=MOVABLE, supports="16-, 32- and 64-bit types, packing and unpacking of halves and quarters, "
        "special registers, addresses, .v2 and .v4 between {...}")
def move(e: Emitter) -> None:
    """mov of a register, constant, special register or address; {a, b} on either side packs or unpacks."""
    d, a = e.operands(2)
    if count := e.choose({"v2": 2, "v4": 4}, 0):
        _elements(e, count, d, a)
    elif isinstance(a, ptx.Vector):
        _pack(e, d, a)
    elif isinstance(d, ptx.Vector):
        _unpack(e, d, a)
    else:
        e.move(e.destination(d, e.type), e.words(a, e.type))


def _elements(e: Emitter, count: int, *vectors: ptx.Operand) -> None:
    """mov of each element of a vector."""
    if not all(isinstance(vector, ptx.Vector) and len(vector.items) == count for vector in vectors):
        e.fail(f"both operands must be vectors {{...}} of {count}")
    to, of = (vector.items for vector in vectors if isinstance(vector, ptx.Vector))
    words = [e.words(item, e.type) for item in of]
    for item, word in zip(to, words, strict=True):
        e.move(e.destination(item, e.type), word)


def _element(e: Emitter, vector: ptx.Vector) -> str:
    count, bits = len(vector.items), width(e.type) // len(vector.items)
    if count not in (2, 4) or bits < 8:
        e.fail(f"{count} parts of .{e.type}: two or four are required, of 8 bits or more")
    return f"b{bits}"


def _pack(e: Emitter, d: ptx.Operand, vector: ptx.Vector) -> None:
    part = _element(e, vector)
    words = [e.word(item, part) for item in vector.items]
    target = e.destination(d, e.type)
    if part == "b8":  # to halves of 16 bits first; above its byte an operand may have its sign
        words = [e.logic(AND, e.op(Op.PRMT, low, high, constant(0x0040)), constant(0xFFFF))
                 for low, high in zip(words[::2], words[1::2], strict=True)]
    if len(words) == len(target):
        e.move(target, tuple(words))
        return
    for dst, low, high in zip(target, words[::2], words[1::2], strict=True):
        e.emit(Op.PRMT, dst, low, high, constant(0x5410))


def _unpack(e: Emitter, vector: ptx.Vector, a: ptx.Operand) -> None:
    part = _element(e, vector)
    words = e.words(a, e.type)
    target = [e.destination(item, part)[0] for item in vector.items]
    if part == "b32":
        e.move(tuple(target), words)
    elif part == "b8":
        for number, byte in enumerate(target):
            e.emit(Op.PRMT, byte, words[0], None, constant(0x4440 + number))
    else:
        for word, low, high in zip(words, target[::2], target[1::2], strict=True):
            e.emit(Op.LOP3, low, word, constant(0xFFFF), lut=AND)
            e.emit(Op.SHF, high, word, None, constant(16), right=True)


@lowers("mov", types=("pred",), supports=".pred")
def move_predicate(e: Emitter) -> None:
    """mov of a predicate."""
    d, a = e.operands(2)
    e.predicate_logic(e.destination(d, "pred")[0], lambda p: p, e.predicate(a))


@lowers("cvta", types=("u64",), supports=".u64, from and to .global, .shared, .local, .const, .param")
def convert_address(e: Emitter) -> None:
    """cvta: a generic address differs from that in its window only in the high word."""
    to = e.flag("to")
    space = e.choose(WINDOW_NAMES)
    d, a = e.unpack("u64", "u64")
    if space == "global":
        e.move(d, a)
    else:
        e.move(d, (a[0], None if to else constant(WINDOWS[space] >> 32)))


@lowers("isspacep", types=(None,), supports=".global, .shared, .local, .const, .param of a 64-bit address")
def is_in_space(e: Emitter) -> None:
    """isspacep: compare the high word with the window's; global addresses are in no window."""
    space = e.choose(WINDOW_NAMES)
    d, a = e.operands(2)
    high = e.words(a, "u64")[1]
    found: Predicate = (None, False)
    if space != "global":
        test = e.temp_predicate()
        e.emit(Op.ISETP, None, high, constant(WINDOWS[space] >> 32), pdst=test)
        found = (test, False)
    else:
        for window in WINDOWS.values():
            test = e.temp_predicate()
            e.emit(Op.ISETP, None, high, constant(window >> 32), pdst=test, psrc=found, cond=Cond.NE)
            found = (test, False)
    e.emit(Op.PLOP3, None, found[0], pdst=e.destination(d, "pred")[0], lut=A)
