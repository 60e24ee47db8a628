"""Parameters of inlined calls: each piece of a parameter that is stored and loaded becomes a separate register.

A piece is (offset, bytes). Pieces can be registers if those stored are disjoint, each load reads one of them whole or
its low bytes (a `char` is passed as 32 bits), and the parameter's address is not taken; otherwise the whole parameter
becomes a variable in local memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

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
MAX_PIECE_BYTES = 8
MAX_LOW_BYTES = 2
"""Wider pieces might be read as floating point, which no conversion cuts out of an integer."""


@dataclass
class _Use:
    """The uses of one parameter: the pieces stored and loaded, and whether it has any other use."""

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
    """Turn every access to `parameters` (by unique name) in the kernel's body into a move, or into a local access to a
    variable that is added to the kernel. A piece that is never loaded vanishes; one that is never stored reads 0."""
    if not parameters:
        return
    uses = {name: _Use() for name in parameters}
    for instruction in kernel.body:
        if isinstance(instruction, Instruction):
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
        elif uses[accessed].in_memory:
            modifiers = tuple("local" if part.startswith("param") else part for part in item.modifiers)
            body.append(replace(item, modifiers=modifiers))
        else:
            body += _moves(item, accessed, uses[accessed], kernel.registers)
    kernel.body = body


def _note(instruction: Instruction, uses: dict[str, _Use]) -> None:
    """Record the use of a parameter by `instruction`."""
    name = _parameter(instruction, uses)
    if name is None:
        return
    if not _is_access(instruction):
        uses[name].in_memory = True
        return
    pieces = {(offset, size) for offset, size, _ in _pieces(instruction)}
    (uses[name].stored if instruction.opcode == "st" else uses[name].loaded).update(pieces)


def _parameter(instruction: Instruction, uses: dict[str, _Use]) -> str | None:
    """The parameter that `instruction` names, if any; none names two."""
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
    return isinstance(address, Address) and bool(instruction.modifiers) and instruction.modifiers[-1] in TYPE_BYTES


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
                yield _move(instruction, piece, item, f"u{stored}", f"u{width}")
        elif offset not in use.registers:
            yield _move(instruction, item, Immediate("int", 0), f"u{width}", f"u{width}")
        elif width == 8 * size:
            yield _move(instruction, item, piece, f"u{width}", f"u{stored}")
        else:
            sign = "s" if instruction.modifiers[-1].startswith("s") else "u"
            yield _move(instruction, item, piece, f"{sign}{width}", f"{sign}{8 * size}")


def _move(at: Instruction, target: Operand, source: Operand, to: str, from_: str) -> Instruction:
    """A move, or a conversion if the widths differ: it truncates or extends as a store and a load would."""
    opcode, modifiers = ("mov", (f"b{to[1:]}",)) if to == from_ else ("cvt", (to, from_))
    return replace(at, opcode=opcode, modifiers=modifiers, operands=(target, source))


def _bits(operand: Operand, registers: dict[str, str], otherwise: int) -> int:
    """The width of a register operand."""
    type_ = registers.get(operand.name, "") if isinstance(operand, Register) else ""
    return 8 * TYPE_BYTES[type_] if type_ in TYPE_BYTES else otherwise
