"""Parameters of inlined calls: each piece of a parameter that is stored and loaded becomes a separate register.

A call copies its arguments to the function's parameters, and the results back. A piece is (offset, bytes); parameters
that are copied to each other have the same pieces. Pieces can be registers if those stored are disjoint, each load
reads one of them whole or its low bytes (a `char` is passed as 32 bits), and no address of such a parameter is taken;
otherwise each of these parameters becomes a variable in local memory. Any access that is not plain also puts it there,
where it is checked as every access to memory.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd

from warploom.compiler.ptx import (
    TYPE_BYTES,
    Address,
    Immediate,
    Instruction,
    Kernel,
    Label,
    Operand,
    Register,
    Symbol,
    Variable,
    Vector,
)

SINK = "_"
SPACES = ("param", "param::func")
"""State spaces of a function's own parameters, and of those of its calls."""

COPY = "(copy)"
"""The opcode that stands for a copy, target first, until `resolve`; no PTX text has it."""

ELEMENTS = {(): 1, ("v2",): 2, ("v4",): 4}
"""The elements of a plain access, by its modifiers between space and type."""

MAX_PIECE_BYTES = 8
MAX_LOW_BYTES = 2
"""Wider pieces might be read as floating point, which no conversion cuts out of an integer."""


@dataclass
class _Use:
    """The uses of `names`, which are copied to each other: pieces stored and loaded, and whether there are others."""

    names: list[str]
    stored: set[tuple[int, int]] = field(default_factory=set)
    loaded: set[tuple[int, int]] = field(default_factory=set)
    in_memory: bool = False

    @cached_property
    def registers(self) -> dict[int, int]:
        """Bytes of the register at each offset that is both stored and loaded, once all uses are known."""
        loaded = {offset for offset, _ in self.loaded}
        return {offset: size for offset, size in self.stored if offset in loaded}

    def separable(self, size: int) -> bool:
        """Whether the pieces of a parameter of `size` bytes can be registers."""
        stored = dict(self.stored)
        if self.in_memory or len(stored) < len(self.stored):
            return False
        whole = {(offset, stored[offset] if read <= MAX_LOW_BYTES and read < stored.get(offset, 0) else read)
                 for offset, read in self.loaded}
        end = 0
        for offset, width in sorted(self.stored | whole):
            if offset < end or width > MAX_PIECE_BYTES:
                return False
            end = offset + width
        return end <= size


def resolve(kernel: Kernel, parameters: dict[str, Variable]) -> None:
    """Turn every access to `parameters` (by unique name) in the kernel's body, and every copy, into a move, or into a
    local access to a variable that is added to the kernel. A piece that is never loaded vanishes; one that is never
    stored reads 0."""
    if not parameters:
        return
    instructions = [item for item in kernel.body if isinstance(item, Instruction)]
    uses = _uses([item for item in instructions if item.opcode == COPY], parameters)
    for instruction in instructions:
        _note(instruction, uses, kernel.registers)
    for name, use in uses.items():
        use.in_memory = not use.separable(parameters[name].size)
        if use.in_memory:
            kernel.variables[name] = replace(parameters[name], space="local")
    body: list[Instruction | Label] = []
    for item in kernel.body:
        named = _parameters(item, uses) if isinstance(item, Instruction) else []
        if isinstance(item, Label) or not named:
            body.append(item)
            continue
        accessed = named[0]
        if item.opcode == COPY:
            body += _copies(item, uses[accessed], kernel)
        elif uses[accessed].in_memory:
            body.append(in_local_memory(item))
        else:
            body += _moves(item, accessed, uses[accessed], kernel.registers)
    kernel.body = body


def copy(target: str, source: str, at: Instruction) -> Instruction:
    """A copy of one parameter to another of the same size, by unique names, in the place of `at` and with its guard."""
    return replace(at, opcode=COPY, modifiers=(), operands=(Symbol(target), Symbol(source)), lists=None)


def in_local_memory(access: Instruction) -> Instruction:
    """An access to a function's parameter, when that is a local variable."""
    modifiers = tuple("local" if part in SPACES else part for part in access.modifiers)
    return replace(access, modifiers=modifiers, written=access.written or access.modifiers)


def _uses(copies: list[Instruction], names: Iterable[str]) -> dict[str, _Use]:
    """The uses of each parameter, without any yet; those that are copied to each other share theirs."""
    uses = {name: _Use([name]) for name in names}
    for item in copies:
        first, second = (uses[symbol.name] for symbol in item.operands if isinstance(symbol, Symbol))
        if first is not second:
            kept, joined = (first, second) if len(first.names) > len(second.names) else (second, first)
            kept.names += joined.names
            uses.update(dict.fromkeys(joined.names, kept))
    return uses


def _note(instruction: Instruction, uses: dict[str, _Use], registers: dict[str, str]) -> None:
    """Record the uses of parameters by `instruction`."""
    if instruction.opcode == COPY:
        return
    named = _parameters(instruction, uses)
    if named and _is_access(instruction, registers):
        pieces = {(offset, size) for offset, size, _ in _pieces(instruction)}
        use = uses[named.pop(0)]
        (use.stored if instruction.opcode == "st" else use.loaded).update(pieces)
    for name in named:
        uses[name].in_memory = True


def _parameters(instruction: Instruction, uses: dict[str, _Use]) -> list[str]:
    """The parameters that `instruction` names: the one that it accesses is the first."""
    return [name for operand in instruction.operands for name in _symbols(operand) if name in uses]


def _symbols(operand: Operand) -> list[str]:
    """The names of the symbols in an operand."""
    if isinstance(operand, Vector):
        return [name for item in operand.items for name in _symbols(item)]
    symbol = operand.base if isinstance(operand, Address) else operand
    return [symbol.name] if isinstance(symbol, Symbol) else []


def _is_access(instruction: Instruction, registers: dict[str, str]) -> bool:
    """Whether this is a plain ``ld.param`` or ``st.param`` as PTX defines it, and not, say, a move of the parameter's
    address."""
    opcode, modifiers, operands = instruction.opcode, instruction.modifiers, instruction.operands
    if opcode not in ("ld", "st") or len(operands) != 2 or not modifiers:
        return False
    address, value = operands if opcode == "st" else operands[::-1]
    elements, size = ELEMENTS.get(modifiers[1:-1]), TYPE_BYTES.get(modifiers[-1], 0)
    if not isinstance(address, Address) or modifiers[0] not in SPACES or not elements or not size:
        return False
    items = value.items if isinstance(value, Vector) else (value,)
    if len(items) != elements or address.offset % (elements * size):
        return False
    return all(_fits(item, size, registers, is_stored=opcode == "st") for item in items)


def _fits(item: Operand, size: int, registers: dict[str, str], *, is_stored: bool) -> bool:
    """Whether an operand can be an element of `size` bytes."""
    if not isinstance(item, Register):
        return is_stored and isinstance(item, Immediate | Symbol)
    if item == Register(SINK):
        return not is_stored
    return registers[item.name] != "pred" and TYPE_BYTES.get(registers[item.name], 0) >= size


def _pieces(instruction: Instruction) -> Iterator[tuple[int, int, Operand]]:
    """Offset, bytes and register (or value) of each element that is loaded or stored."""
    address, value = instruction.operands if instruction.opcode == "st" else reversed(instruction.operands)
    size = TYPE_BYTES[instruction.modifiers[-1]]
    assert isinstance(address, Address)
    for index, item in enumerate(value.items if isinstance(value, Vector) else (value,)):
        yield address.offset + index * size, size, item


def _moves(instruction: Instruction, name: str, use: _Use, registers: dict[str, str]) -> Iterator[Instruction]:
    """The moves that replace one access."""
    for offset, size, item in _pieces(instruction):
        piece = Register(f"{name}+{offset}")
        stored = max(8 * use.registers.get(offset, size), 16)  # there are no 8-bit registers
        if item == Register(SINK):
            continue
        width = _bits(item, registers, stored)
        if instruction.opcode == "st":
            if offset in use.registers:
                registers[piece.name] = f"b{stored}"
                yield _stored(instruction, piece, item, f"u{stored}", f"u{width}")
        elif offset not in use.registers:
            yield _move(instruction, item, Immediate("int", 0), f"u{width}", f"u{width}")
        elif width == 8 * size:
            yield _move(instruction, item, piece, f"u{width}", f"u{stored}")
        else:
            sign = "s" if instruction.modifiers[-1].startswith("s") else "u"
            yield _move(instruction, item, piece, f"{sign}{width}", f"{sign}{8 * size}")


def _stored(at: Instruction, piece: Operand, value: Operand, to: str, from_: str) -> Instruction:
    """The move of a stored value. The type of a constant is that of the store: it may be floating-point."""
    type_ = at.modifiers[-1]
    if isinstance(value, Immediate) and type_[0] == "f":
        return replace(at, opcode="mov", modifiers=(type_,), operands=(piece, value))
    return _move(at, piece, value, to, from_)


def _copies(at: Instruction, use: _Use, kernel: Kernel) -> Iterator[Instruction]:
    """What replaces a copy: a move for each piece, or a load and a store for each word in local memory."""
    target, source = (symbol.name for symbol in at.operands if isinstance(symbol, Symbol))
    if use.in_memory:
        yield from _words(at, kernel, Symbol(target), Symbol(source))
        return
    for offset, size in use.registers.items():
        to, from_ = Register(f"{target}+{offset}"), Register(f"{source}+{offset}")
        type_ = f"b{max(8 * size, 16)}"
        kernel.registers |= {to.name: type_, from_.name: type_}
        yield _move(at, to, from_, type_, type_)


def _words(at: Instruction, kernel: Kernel, target: Symbol, source: Symbol) -> Iterator[Instruction]:
    """A copy of a local variable to another in words as wide as size and alignment of both allow."""
    variables = [kernel.variables[symbol.name] for symbol in (target, source)]
    word = gcd(MAX_PIECE_BYTES, *(number for variable in variables for number in (variable.size, variable.alignment)))
    register = Register(f"{target.name}+b{8 * word}")
    kernel.registers[register.name] = f"b{max(8 * word, 16)}"
    for offset in range(0, variables[0].size, word):
        modifiers = ("local", f"b{8 * word}")
        yield replace(at, opcode="ld", modifiers=modifiers, operands=(register, Address(source, offset)))
        yield replace(at, opcode="st", modifiers=modifiers, operands=(Address(target, offset), register))


def _move(at: Instruction, target: Operand, source: Operand, to: str, from_: str) -> Instruction:
    """A move, or a conversion if the widths differ: it truncates or extends as a store and a load would."""
    opcode, modifiers = ("mov", (f"b{to[1:]}",)) if to == from_ else ("cvt", (to, from_))
    return replace(at, opcode=opcode, modifiers=modifiers, operands=(target, source))


def _bits(operand: Operand, registers: dict[str, str], otherwise: int) -> int:
    """The width of a register operand."""
    type_ = registers.get(operand.name, "") if isinstance(operand, Register) else ""
    return 8 * TYPE_BYTES[type_] if type_ in TYPE_BYTES else otherwise
