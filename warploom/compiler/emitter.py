"""`Emitter`: builds the machine nodes of one PTX instruction, from operands as written to guards and aliases.

A lowering reads operands, computes in fresh local registers and writes the destination; `finish` adds the guard.
"""

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from warploom.arch.errors import PtxError
from warploom.arch.isa import MEMORY_OPS, Op
from warploom.compiler import ptx
from warploom.compiler.clobbers import unclobbered
from warploom.compiler.ir import (
    CONSTANTS,
    Function,
    Imm,
    Label,
    Node,
    Operand,
    RegisterClass,
    VirtualRegister,
)
from warploom.compiler.literals import immediate_words
from warploom.compiler.symbols import GRID_BARRIER_WORDS, SPECIALS, address_of, as_written, frame_of
from warploom.compiler.truth import AND, A, B, C

Words = tuple[Operand, ...]
"""A value as one word, or as two, low first."""

Target = tuple[VirtualRegister | None, ...]
"""Destinations of the words of a result; None discards."""

Predicate = tuple[VirtualRegister | None, bool]
"""A predicate register (None: PT) and whether it is inverted."""

SINK = ptx.Register("_")
"""The destination that discards."""

T = TypeVar("T")


def width(type_: str) -> int:
    """Bits of a PTX type; 1 for `pred`."""
    return 1 if type_ == "pred" else 8 * ptx.TYPE_BYTES[type_]


def is_signed(type_: str) -> bool:
    """True for the signed integer types."""
    return type_[0] == "s"


def constant(value: int) -> Operand:
    """A 32-bit constant as an operand; zero is RZ."""
    value &= 0xFFFFFFFF
    return Imm(value) if value else None


def known(operand: Operand) -> int | None:
    """The value of a constant operand, None for anything else."""
    return 0 if operand is None else operand.value if isinstance(operand, Imm) else None


class Emitter:
    """The nodes of one instruction under construction. Errors are `PtxError` at the instruction's place."""

    def __init__(self, function: Function, instruction: ptx.Instruction, carry: VirtualRegister,
                 borrow: bool | None) -> None:
        self.function, self.instruction, self.carry, self._borrow = function, instruction, carry, borrow
        self.supports = ""  # the forms of this instruction, for messages
        self.nodes: list[Node | Label] = []
        self.types = [m for m in instruction.modifiers if m in ptx.TYPE_BYTES]
        self._modifiers = [m for m in instruction.modifiers if m not in ptx.TYPE_BYTES]

    # ---- the instruction as written

    @property
    def type(self) -> str:
        """The last type of the opcode."""
        return self.types[-1]

    @property
    def carry_in(self) -> Predicate:
        """The carry flag, as this instruction reads it (`warploom.compiler.carry`)."""
        if self._borrow is None:
            self.fail("the carry flag is that of an addition or that of a subtraction, as the path or a guard says")
        return self.carry, self._borrow != (self.instruction.opcode == "subc")

    def fail(self, message: str) -> NoReturn:
        """Raise the error, at this instruction."""
        place = self.instruction
        raise PtxError(f"{place.full_opcode}: {message}", file=self.function.kernel.file, line=place.line,
                       column=place.column)

    def flag(self, name: str) -> bool:
        """Consume a modifier; True if it was there."""
        if name not in self._modifiers:
            return False
        self._modifiers.remove(name)
        return True

    def choose(self, table: dict[str, T], default: T | None = None) -> T:
        """Consume the modifier that is in the table; an error if there is neither one nor a default."""
        for name, value in table.items():
            if name in self._modifiers:
                self._modifiers.remove(name)
                return value
        if default is None:
            self.fail(f"one of .{', .'.join(table)} is required; supported: {self.supports}")
        return default

    def drop(self, wanted: Callable[[str], bool]) -> None:
        """Consume every modifier that `wanted` accepts: it has no effect here."""
        self._modifiers = [m for m in self._modifiers if not wanted(m)]

    @property
    def leftover(self) -> list[str]:
        """Modifiers that were not consumed."""
        return self._modifiers

    def operands(self, *counts: int) -> tuple[ptx.Operand, ...]:
        """The operands as written; an error unless there are as many as one of `counts`."""
        given = self.instruction.operands
        if len(given) not in counts:
            self.fail(f"takes {' or '.join(map(str, counts))} operands, {len(given)} given")
        return given

    def unpack(self, *types: str) -> list[Any]:
        """Destination and sources, one type each, as words (low first)."""
        first, *rest = self.operands(len(types))
        return [self.destination(first, types[0]), *(self.words(o, t) for o, t in zip(rest, types[1:], strict=True))]

    # ---- operands

    def registers(self, operand: ptx.Operand, role: str = "operand") -> tuple[VirtualRegister, ...]:
        """The virtual registers of a register operand."""
        if not isinstance(operand, ptx.Register):
            self.fail(f"a register is required as {role}")
        if operand == SINK:
            self.fail(f"_ can only be a destination, not {role}")
        return self.function.names[operand.name]

    def register_width(self, operand: ptx.Operand) -> int:
        """Declared bits of a register operand."""
        self.registers(operand)
        assert isinstance(operand, ptx.Register)
        return width(self.function.kernel.registers[operand.name])

    def _check_width(self, operand: ptx.Register, type_: str) -> None:
        declared = width(self.function.kernel.registers[operand.name])
        if declared != width(type_):
            kind = self.function.kernel.registers[operand.name]
            self.fail(f"{as_written(operand.name)} is a .{kind} register where .{type_} is required")

    def destination(self, operand: ptx.Operand, type_: str) -> Target:
        """Registers to write, low first; None for the sink `_`."""
        if operand == SINK:
            return (None,) * (2 if width(type_) == 64 else 1)
        found = self.registers(operand, "destination")
        assert isinstance(operand, ptx.Register)
        self._check_width(operand, type_)
        return found

    def words(self, operand: ptx.Operand, type_: str) -> Words:
        """A source operand of up to 64 bits as one word, or two (low first). Narrow values are zero-extended."""
        if isinstance(operand, ptx.Register):
            found = self.registers(operand)
            self._check_width(operand, type_)
            return found
        if isinstance(operand, ptx.Immediate):
            return tuple(constant(word) for word in immediate_words(self, operand, type_))
        if isinstance(operand, ptx.Symbol):
            return self._symbol(operand, type_)
        return self.fail(f"a register, a constant or a variable's name is required as .{type_} operand")

    def word(self, operand: ptx.Operand, type_: str) -> Operand:
        """A source operand of up to 32 bits."""
        return self.words(operand, type_)[0]

    def number(self, operand: ptx.Operand) -> Operand:
        """A source operand of 32 bits where PTX wants a constant or a register: no address of a variable."""
        if isinstance(operand, ptx.Symbol) and operand.name not in SPECIALS:
            self.fail(f"{as_written(operand.name)} is given where a number is required")
        return self.word(operand, "u32")

    def _symbol(self, symbol: ptx.Symbol, type_: str) -> Words:
        bits = width(type_)
        specials = SPECIALS.get(symbol.name)
        if specials is not None:
            read = [self.op(Op.S2R, special=special) for special in specials]
            return tuple([*read, None][:2]) if bits == 64 else (self._narrow(read[0], bits),)
        value = GRID_BARRIER_WORDS.get(symbol.name, address_of(self.function, symbol))
        if value is None:
            self.fail(f"{as_written(symbol.name)} is neither a variable of this kernel nor a special register that is "
                      "supported")
        frame = frame_of(self.function, symbol)
        if frame is not None:
            low = self.op(Op.IADD, frame, constant(value))
            return (low, None) if bits == 64 else (self._narrow(low, bits),)
        return (constant(value), constant(value >> 32)) if bits == 64 else (constant(value & (1 << bits) - 1),)

    def _narrow(self, word: VirtualRegister, bits: int) -> VirtualRegister:
        """The low bits of a word, zero-extended."""
        return word if bits == 32 else self.logic(AND, word, constant((1 << bits) - 1))

    def predicate(self, operand: ptx.Operand) -> Predicate:
        """A predicate source: `p`, `!p`, or a constant."""
        if isinstance(operand, ptx.Immediate):
            return None, operand.value == 0
        inverted = isinstance(operand, ptx.Not)
        register = operand.register if isinstance(operand, ptx.Not) else operand
        (found, *_) = self.registers(register, "predicate")
        if not found.is_predicate:
            self.fail("a predicate register is required")
        return found, inverted

    # ---- nodes

    def temp(self) -> VirtualRegister:
        """A fresh local register."""
        return self.function.new(local=True)

    def temp_predicate(self) -> VirtualRegister:
        """A fresh local predicate."""
        return self.function.new(RegisterClass.PREDICATE, local=True)

    def temp_pair(self) -> tuple[VirtualRegister, VirtualRegister]:
        """Fresh local registers for a 64-bit value."""
        return self.function.new_pair(local=True)

    def emit(self, op: Op, dst: VirtualRegister | None, *src: Operand, pdst: VirtualRegister | None = None,
             psrc: Predicate = (None, False), imm: int = 0, target: str | None = None, alignment: int = 1,
             **modifiers: Any) -> None:
        """Append a node; constants beyond the one that fits an instruction are moved to registers first."""
        self._append(op, dst, self._encodable(op, src), pdst=pdst, psrc=psrc[0], psrc_not=psrc[1], imm=imm,
                     target=target, alignment=alignment, modifiers=modifiers)

    def op(self, op: Op, *src: Operand, **fields: Any) -> VirtualRegister:
        """Append a node with a fresh local result, and return that."""
        dst = self.temp()
        self.emit(op, dst, *src, **fields)
        return dst

    def beats(self, first: Words, op: Op, dst: VirtualRegister | None, *src: Operand, memory: bool = False,
              pdst: VirtualRegister | None = None, psrc: Predicate = (None, False), imm: int = 0,
              alignment: int = 1, **modifiers: Any) -> None:
        """Append LATCH of the first operands and the operation that uses them."""
        latched, rest = self._encodable(Op.LATCH, first), self._encodable(op, src)
        self._append(Op.LATCH, None, latched, modifiers={"memory": memory})
        self._append(op, dst, rest, pdst=pdst, psrc=psrc[0], psrc_not=psrc[1], imm=imm, alignment=alignment,
                     modifiers=modifiers)

    def high(self, dst: VirtualRegister | None, memory: bool = False) -> None:
        """Append HIGH, which fetches the high word of the result just made."""
        if dst is not None:
            self.emit(Op.HIGH, dst, memory=memory)

    def move(self, dst: Target, src: Words) -> None:
        """Copy words."""
        for to, value in zip(dst, src, strict=True):
            self.emit(Op.MOV, to, value)

    def logic(self, lut: int, *src: Operand, dst: VirtualRegister | None = None) -> VirtualRegister:
        """LOP3 into `dst` or a fresh register."""
        dst = dst or self.temp()
        self.emit(Op.LOP3, dst, *src, lut=lut)
        return dst

    def predicate_logic(self, dst: VirtualRegister | None, function: Callable[..., int], *src: Predicate) -> None:
        """PLOP3 of up to three predicates; `function` is applied to truth tables, inversions are folded into it."""
        tables = [table ^ 0xFF * inverted for table, (_, inverted) in zip((A, B, C), src, strict=False)]
        self.emit(Op.PLOP3, None, *(register for register, _ in src), pdst=dst, lut=function(*tables) & 0xFF)

    def append(self, item: Node | Label) -> None:
        """Append a label, or a node with its own guard."""
        self.nodes.append(item)

    def _encodable(self, op: Op, src: Words) -> list[Operand]:
        room = int(op not in MEMORY_OPS)
        result: list[Operand] = []
        for operand in src:
            if isinstance(operand, CONSTANTS):
                room -= 1
                if room < 0:
                    moved = self.temp()
                    self._append(Op.MOV, moved, [operand, None, None])
                    result.append(moved)
                    continue
            result.append(operand)
        return result + [None] * (3 - len(result))

    def _append(self, op: Op, dst: VirtualRegister | None, src: list[Operand], *,
                modifiers: dict[str, Any] | None = None, **fields: Any) -> None:
        kept = {name: value for name, value in (modifiers or {}).items() if int(value)}
        self.nodes.append(Node(op, dst, src, modifiers=kept, line=self.instruction.line, **fields))

    # ---- the end

    def finish(self) -> list[Node | Label]:
        """The nodes, all under the instruction's guard, none clobbering a register that a later one reads."""
        if self.instruction.guard is not None:
            guard, inverted = self.predicate(self.instruction.guard)
            for node in self.nodes:
                if isinstance(node, Node) and node.guard is None:
                    node.guard, node.guard_not = guard, inverted
        return unclobbered(self.nodes, self.function)
