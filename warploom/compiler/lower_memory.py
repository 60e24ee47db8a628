"""Loads, stores and hints.

The machine serves a warp's memory instructions in order, so .volatile, .relaxed, .acquire and .release need only the
plain instruction, and cache operators have no effect that a program can see.
"""

from dataclasses import dataclass, replace
from typing import Any

from warploom.arch.isa import Op
from warploom.arch.modifiers import Access, Space
from warploom.compiler import lower_convert, ptx, wide
from warploom.compiler.emitter import Emitter, Words, constant, width
from warploom.compiler.ir import Operand, Param, VirtualRegister
from warploom.compiler.registry import SCALARS, lowers
from warploom.compiler.symbols import SPACES, address_of, as_written, frame_of, space_of

SPACE_NAMES = {**SPACES, "shared::cta": Space.SHARED, "param::entry": Space.PARAM}

ORDERING = {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cta", "cluster", "gpu", "sys"}
CACHING = {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"}

ACCESSES = {8: (Access.U8, Access.S8), 16: (Access.U16, Access.S16), 32: (Access.B32, Access.B32)}

MAX_BYTES = 32
"""Bytes of the widest access."""

OFFSETS = range(-(1 << 31), (1 << 31) - MAX_BYTES)
"""Byte offsets of accesses whose parts all have an offset of 32 bits."""

SUPPORTS = ("8- to 64-bit types, .v2, .v4 and .v8 of at most 32 bytes, in every state space or generic, with ordering "
            "and cache operators")


@dataclass(frozen=True)
class Place:
    """A resolved address: its register words (None: zero) and byte offset in a state space, and the alignment of an
    access that is lowered to several parts."""

    space: Space
    words: Words
    offset: int
    alignment: int = 1

    @property
    def wide(self) -> bool:
        """True where an address has 64 bits."""
        return self.space in (Space.GENERIC, Space.GLOBAL)

    @property
    def slots(self) -> Words:
        """Operand slots 0 and 1 of the memory instruction."""
        return (self.words[0], self.words[1] if self.wide else None)

    def part(self, at: int) -> dict[str, Any]:
        """Fields of the machine instruction for the part of the access that begins at its byte `at`."""
        return {"imm": self.offset + at, "space": self.space, "wide": self.wide,
                "alignment": 1 if at else self.alignment}


def drop_hints(e: Emitter) -> None:
    """Consume the modifiers without effect here, and the cache policy, which is the last operand."""
    if e.flag("L2::cache_hint"):
        e.instruction = replace(e.instruction, operands=e.instruction.operands[:-1])
    e.drop(lambda m: m in ORDERING or m in CACHING or m.startswith(("L1::", "L2::")))


def place(e: Emitter, operand: ptx.Operand) -> Place:
    """The address operand of a memory instruction, in the space of the opcode or, for a variable, of the variable."""
    space = e.choose(SPACE_NAMES, Space.GENERIC)
    if not isinstance(operand, ptx.Address):
        e.fail("an address in brackets is required")
    base, offset = operand.base, operand.offset
    if isinstance(base, ptx.Symbol):
        return _variable(e, space, base, offset)
    if isinstance(base, ptx.Immediate):
        return _absolute(e, space, base.value + offset)
    words = e.registers(base, "address")
    bits = (64,) if space in (Space.GENERIC, Space.GLOBAL) else (32, 64)
    if e.register_width(base) not in bits:
        e.fail(f"{as_written(base.name)}: addresses in this space have {' or '.join(map(str, bits))} bits")
    if not -(1 << 31) <= offset < 1 << 31:
        e.fail(f"the offset {offset} does not fit 32 bits")
    found = Place(space, (words[0], words[-1]), offset)
    if offset in OFFSETS or not found.wide:
        return found
    return Place(space, wide.add_sub(e, Op.IADD, words, (constant(offset), None)), 0)


def behind(e: Emitter, where: Place, distance: Operand) -> Place:
    """The place that many bytes further."""
    if where.wide:
        return Place(where.space, wide.add_sub(e, Op.IADD, where.words, (distance, None)), where.offset)
    return Place(where.space, (e.op(Op.IADD, where.words[0], distance), None), where.offset)


def _variable(e: Emitter, space: Space, symbol: ptx.Symbol, offset: int) -> Place:
    own, address = space_of(e.function, symbol), address_of(e.function, symbol)
    if own is None or address is None:
        e.fail(f"{as_written(symbol.name)} is not a variable of this kernel")
    if space not in (own, Space.GENERIC):
        e.fail(f"{as_written(symbol.name)} lies in .{own.name.lower()}, not in .{space.name.lower()}")
    found, frame = _absolute(e, own, address + offset), frame_of(e.function, symbol)
    return found if frame is None else replace(found, words=(frame, None))


def _absolute(e: Emitter, space: Space, address: int) -> Place:
    """A known address: the offset field holds it if it fits."""
    if address in OFFSETS:
        return Place(space, (None, None), address)
    if space not in (Space.GENERIC, Space.GLOBAL):
        e.fail(f"the address {address:#x} lies outside the state space")
    return Place(space, (constant(address), constant(address >> 32)), 0)


def _elements(e: Emitter, operand: ptx.Operand) -> tuple[ptx.Operand, ...]:
    count = e.choose({"v2": 2, "v4": 4, "v8": 8}, 1)
    if count * ptx.TYPE_BYTES[e.type] > MAX_BYTES:
        e.fail(f"{count} elements of .{e.type} are more than {MAX_BYTES} bytes")
    items = operand.items if isinstance(operand, ptx.Vector) else (operand,)
    if len(items) != count:
        e.fail(f"{count} data operand{'s are' if count > 1 else ' is'} required, {len(items)} given")
    return items


@lowers("ld", "ldu", types=SCALARS, supports=SUPPORTS)
def load(e: Emitter) -> None:
    """ld: one machine load per word; sub-words are extended by their type."""
    drop_hints(e)
    d, address = e.operands(2)
    items = _elements(e, d)
    source = _whole(e, address, len(items))
    for number, item in enumerate(items):
        at = number * ptx.TYPE_BYTES[e.type]
        if width(e.type) == 64:
            low, high = e.destination(item, e.type)
            _load_word(e, source, at, low)
            _load_word(e, source, at + 4, high)
        else:
            word = e.temp()
            _load_word(e, source, at, word)
            lower_convert.put(e, item, (word,), e.type)


def _whole(e: Emitter, address: ptx.Operand, elements: int) -> Place:
    """The place of an access of so many elements. If it has several parts, the first checks the alignment of all."""
    size = ptx.TYPE_BYTES[e.type]
    is_one = elements == 1 and size <= 4
    return replace(place(e, address), alignment=1 if is_one else elements * size)


def _load_word(e: Emitter, source: Place, at: int, dst: VirtualRegister | None) -> None:
    offset = source.offset + at
    known = source.space is Space.PARAM and source.words == (None, None) and source.offset % source.alignment == 0
    if known and width(e.type) >= 32 and e.function.has_parameter_word(offset):
        e.emit(Op.MOV, dst, Param(offset))
        return
    access = ACCESSES[min(width(e.type), 32)][e.type[0] == "s"]
    e.emit(Op.LD, dst, *source.slots, access=access, **source.part(at))


@lowers("st", types=SCALARS, supports=SUPPORTS)
def store(e: Emitter) -> None:
    """st: one machine store per word; the register may be wider than the type."""
    drop_hints(e)
    address, value = e.operands(2)
    items = _elements(e, value)
    target = _whole(e, address, len(items))
    access = ACCESSES[min(width(e.type), 32)][0]
    for number, item in enumerate(items):
        for index, word in enumerate(_stored(e, item)):
            at = number * ptx.TYPE_BYTES[e.type] + 4 * index
            e.emit(Op.ST, None, *target.slots, word, access=access, **target.part(at))


def _stored(e: Emitter, item: ptx.Operand) -> Words:
    if isinstance(item, ptx.Register) and e.register_width(item) > width(e.type):
        return e.registers(item)[:1]
    return e.words(item, e.type)


@lowers("prefetch", "prefetchu", "discard", "applypriority", "griddepcontrol", "nanosleep", "pmevent",
        types=(None, "u32"), supports="accepted, and without effect")
def hint(e: Emitter) -> None:
    """Hints to caches and schedulers, and waits for an earlier grid, which has ended: no machine instruction."""
    e.drop(lambda _: True)


@lowers("createpolicy", types=("b64",), supports="accepted; the policy has no effect")
def create_policy(e: Emitter) -> None:
    """createpolicy: a value that only `drop_hints` sees."""
    e.drop(lambda _: True)
    policy, *_ = e.operands(*range(1, 5))
    e.move(e.destination(policy, "b64"), (None, None))
