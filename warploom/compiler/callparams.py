"""Parameters of inlined calls: each piece of a parameter that is stored and loaded becomes a separate register.

A call copies its arguments to the function's parameters, and the results back. A piece is (offset, bytes); parameters
that are copied to each other have the same pieces. Pieces can be registers if those stored are disjoint, each load
reads one of them whole or its low bytes (a `char` is passed as 32 bits), and no address of such a parameter is taken;
otherwise each of these parameters becomes a variable in local memory.
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
        _note(instruction, uses)
    for name, use in uses.items():
        use.in_memory = not use.separable(parameters[name].size)
        if use.in_memory:
            kernel.variables[name] = replace(parameters[name], space="local")
    body: list[Instruction | Label] = []
    for item in kernel.body:
        accessed = _parameter(item, uses) if isinstance(item, Instruction) else None
        if isinstance(item, Label) or accessed is None:
            body.append(item)
        elif item.opcode == COPY:
            body += _copies(item, uses[accessed], kernel)
        elif uses[accessed].in_memory:
            body.append(replace(item, modifiers=local_spaces(item.modifiers)))
        else:
            body += _moves(item, accessed, uses[accessed], kernel.registers)
    kernel.body = body


def copy(target: str, source: str, at: Instruction) -> Instruction:
    """A copy of one parameter to another of the same size, by unique names, in the place of `at` and with its guard."""
    return replace(at, opcode=COPY, modifiers=(), operands=(Symbol(target), Symbol(source)), lists=None)


def local_spaces(modifiers: tuple[str, ...]) -> tuple[str, ...]:
    """The modifiers of an access to a function's parameter, when that is a local variable."""
    return tuple("local" if part in SPACES else part for part in modifiers)


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


def _note(instruction: Instruction, uses: dict[str, _Use]) -> None:
    """Record the use of a parameter by `instruction`."""
    name = _parameter(instruction, uses)
    if name is None or instruction.opcode == COPY:
        return
    if not _is_access(instruction):
        uses[name].in_memory = True
        return
    pieces = {(offset, size) for offset, size, _ in _pieces(instruction)}
    (uses[name].stored if instruction.opcode == "st" else uses[name].loaded).update(pieces)


def _parameter(instruction: Instruction, uses: dict[str, _Use]) -> str | None:
    """The parameter that `instruction` names, if any; only a copy names two, which share their uses."""
    for operand in instruction.operands:
        symbol = operand.base if isinstance(operand, Address) else operand
        if isinstance(symbol, Symbol) and symbol.name in uses:
            return symbol.name
    return None


def _is_access(instruction: Instruction) -> bool:
    """Whether this is a plain ``ld.param`` or ``st.param``, and not, say, a move of the parameter's address."""
    if instruction.opcode not in ("ld", "st") or len(instruction.operands) != 2:
        return False
    address = instruction.operands[0 if instruction.opcode == "st" else 1]
    modifiers = instruction.modifiers
    return isinstance(address, Address) and not set(SPACES).isdisjoint(modifiers) and modifiers[-1] in TYPE_BYTES


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
