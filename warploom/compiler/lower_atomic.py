"""atom and red. 64-bit operands and compare-and-swap take two beats; a 16-bit swap and sums of 16-bit floats are loops
that swap the word."""

from collections.abc import Callable
from typing import Any

from warploom.arch.isa import Op
from warploom.arch.modifiers import Access, Atom, Cond, DType
from warploom.compiler.emitter import Emitter, Target, Words, constant, width
from warploom.compiler.ir import Label, Node, Operand, VirtualRegister
from warploom.compiler.lower_convert import HALVES, PACK, PAIRS
from warploom.compiler.lower_half import Numbers
from warploom.compiler.lower_memory import Place, drop_hints, place
from warploom.compiler.registry import lowers
from warploom.compiler.truth import AND, INSERT

OPERATORS = {operator.name.lower(): operator for operator in Atom}
REDUCERS = {name: operator for name, operator in OPERATORS.items() if name not in ("exch", "cas")}

LEGAL = {
    Atom.ADD: ("u32", "s32", "u64", "s64", "f32", "f64", *HALVES, *PAIRS),
    **dict.fromkeys((Atom.MIN, Atom.MAX), ("u32", "s32", "u64", "s64")),
    **dict.fromkeys((Atom.INC, Atom.DEC), ("u32",)),
    **dict.fromkeys((Atom.AND, Atom.OR, Atom.XOR), ("b32", "b64", "u32", "s32", "u64", "s64")),
    Atom.EXCH: ("b32", "b64", "u32", "s32", "u64", "s64", "f32", "f64"),
    Atom.CAS: ("b16", "b32", "b64", "u32", "s32", "u64", "s64"),
}
"""PTX's types of each operator, and the untyped ones under their typed names, which older PTX used."""

REDUCTIONS = ("add, min, max, and, or, xor of 32 and 64 bits, inc and dec of 32 bits, add of f32 and f64, add.noftz of "
              "f16, f16x2, bf16, bf16x2")
VECTORS = ("v2", "v4", "v8")
TYPES = ("b16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64", *HALVES, *PAIRS)


@lowers("atom", types=TYPES, supports=f"{REDUCTIONS}; exch and cas of 32 and 64 bits, 16-bit cas")
@lowers("red", types=TYPES, supports=REDUCTIONS)
def atomic(e: Emitter) -> None:
    """atom, red."""
    drop_hints(e)
    if e.type in (*HALVES, *PAIRS):
        e.choose({"noftz": True})
    if any(e.flag(vector) for vector in VECTORS):
        e.fail(f"vector atomics are not supported; supported: {e.supports}")
    is_atom = e.instruction.opcode == "atom"
    operator: Atom = e.choose(OPERATORS if is_atom else REDUCERS)
    if e.type not in LEGAL[operator]:
        e.fail(f"{operator.name.lower()} takes .{', .'.join(LEGAL[operator])}")
    sources = 2 + (operator is Atom.CAS)
    operands = e.operands(sources + is_atom)
    d = e.destination(operands[0], e.type) if is_atom else (None,) * (2 if width(e.type) == 64 else 1)
    address, *values = operands[is_atom:]
    target = place(e, address)
    words = [e.words(value, e.type) for value in values]
    if e.type == "b16":
        _swap_half(e, d[0], target, *(w[0] for w in words))
    elif e.type in (*HALVES, *PAIRS):
        _add_halves(e, d[0], target, words[0][0])
    else:
        _emit(e, operator, d, target, words)


def _emit(e: Emitter, operator: Atom, d: Target, target: Place, words: list[Words]) -> None:
    """One ATOM or RED with the operand order of `isa.is_latched`."""
    op = Op.RED if all(dst is None for dst in d) else Op.ATOM
    common: dict[str, Any] = {"imm": target.offset, "space": target.space, "atom": operator, "wide": target.wide,
                              "dst_type": DType[e.type.upper().replace("B", "U")]}
    flat = [word for value in words for word in value]
    if len(d) == 1 and operator is not Atom.CAS:
        e.emit(op, d[0], *target.slots, *flat, **common)
        return
    early = flat[: operator is Atom.CAS]
    e.beats((*target.slots, *early), op, d[0], *flat[len(early) :], memory=True, **common)
    if len(d) == 2:
        e.high(d[1], memory=True)


def _swap_half(e: Emitter, dst: VirtualRegister | None, target: Place, compare: Operand, new: Operand) -> None:
    """Compare-and-swap of 16 bits."""
    end = _jump(e)
    half = _Half(e, target)
    moved = half.moved(new)

    def replaced(old: VirtualRegister, done: Label) -> tuple[Operand, Operand]:
        found = half.of(old)
        _branch(e, Cond.NE, found, compare, done)
        return found, half.put(old, moved)

    _swap(e, dst, half.word, replaced, end)


def _add_halves(e: Emitter, dst: VirtualRegister | None, target: Place, addend: Operand) -> None:
    """Sums of one 16-bit float, or of two in a word, each rounded once."""
    end, numbers = _jump(e), Numbers(e)
    addends = numbers.of(addend)

    def total(old: Operand) -> list[VirtualRegister]:
        return [numbers.rounded(e.op(Op.FADD, *pair)) for pair in zip(numbers.of(old), addends, strict=True)]

    if numbers.paired:
        _swap(e, dst, target, lambda old, _: (old, e.op(Op.PRMT, *total(old), constant(PACK))), end)
        return
    half = _Half(e, target)

    def summed(old: VirtualRegister, _done: Label) -> tuple[Operand, Operand]:
        found = half.of(old)
        return found, half.put(old, half.moved(*total(found)))

    _swap(e, dst, half.word, summed, end)


class _Half:
    """The 16 bits at an address as a part of their word.

    Memory may end in the middle of the word. So a load of the 16 bits alone, whose result is not used, finds illegal
    addresses, and the accesses to the word have the size of the PTX access, as checks see it.
    """

    def __init__(self, e: Emitter, target: Place) -> None:
        e.op(Op.LD, *target.slots, access=Access.U16, **target.part(0))
        address = e.op(Op.IADD, target.words[0], constant(target.offset), pdst=(carry := e.temp_predicate()))
        upper = constant(-1) if target.offset < 0 else None
        high = e.op(Op.IADD, target.words[1], upper, psrc=(carry, False)) if target.wide else None
        self._e = e
        self.word = Place(target.space, (e.logic(AND, address, constant(~2)), high), 0, alignment=2)
        self._places = e.op(Op.SHF, None, e.logic(AND, address, constant(2)), constant(3))
        self._field = e.op(Op.SHF, None, constant(0xFFFF), self._places)

    def of(self, word: Operand) -> VirtualRegister:
        """The 16 bits out of the word."""
        return self._e.logic(AND, self._e.op(Op.SHF, word, None, self._places, right=True), constant(0xFFFF))

    def moved(self, half: Operand) -> VirtualRegister:
        """16 bits at their place in the word."""
        return self._e.op(Op.SHF, None, half, self._places)

    def put(self, word: Operand, moved: Operand) -> VirtualRegister:
        """The word with other 16 bits."""
        return self._e.logic(INSERT, moved, word, self._field)


def _jump(e: Emitter) -> Label:
    """The end of a loop with branches of its own, to which lanes go whose guard fails."""
    end = Label(f"$cas{e.function.count}_end")
    if e.instruction.guard is not None:
        guard, inverted = e.predicate(e.instruction.guard)
        e.append(Node(Op.BRA, guard=guard, guard_not=not inverted, target=end.name, line=e.instruction.line))
    return end


def _swap(e: Emitter, dst: VirtualRegister | None, word: Place,
          replaced: Callable[[VirtualRegister, Label], tuple[Operand, Operand]], end: Label) -> None:
    """Compare-and-swap of a word until nothing in it moved meanwhile; behind it stands `end`. `replaced` makes the
    result and the new word of the old one; where it branches to the label that it gets, the word stays as it is."""
    again, done = (Label(f"$cas{e.function.count}_{name}") for name in ("again", "done"))
    e.append(again)
    old = e.op(Op.LD, *word.slots, access=Access.B32, **word.part(0))
    result, new = replaced(old, done)
    seen = e.temp()
    e.beats((*word.slots, old), Op.ATOM, seen, new, memory=True, atom=Atom.CAS, dst_type=DType.U32, **word.part(0))
    _branch(e, Cond.NE, seen, old, again)
    e.append(done)
    e.emit(Op.MOV, dst, result)
    e.append(end)


def _branch(e: Emitter, cond: Cond, a: Operand, b: Operand, label: Label) -> None:
    taken = e.temp_predicate()
    e.emit(Op.ISETP, None, a, b, pdst=taken, cond=cond)
    e.append(Node(Op.BRA, guard=taken, target=label.name, line=e.instruction.line))
