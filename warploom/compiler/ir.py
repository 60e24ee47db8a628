"""Machine instructions over virtual registers, between lowering and allocation.

The body is a flat list of `Node` and `Label` in program order; fall-through as written. It is not in single-assignment
form: a virtual register may be written in several places, and a guarded node leaves the old value in lanes whose guard
does not hold. Lowering obeys these rules, and the back end may rely on them and must preserve them:

- Operand slots hold a virtual register, an `Imm`, a `Param`, or None (RZ; in PLOP3 and `psrc`, PT).
  At most one slot of a node holds an `Imm` or a `Param`; memory nodes (LD, ST, ATOM, RED) hold none, because
  their immediate field is the byte offset `Node.imm`.
- **Pairs.** The halves of a 64-bit value are two registers with `half` LOW and HIGH and consecutive numbers. The ISA
  reads them from separate slots, so an aligned physical pair is a preference, not a condition.
- **Locals.** A register with `local` set lives inside the expansion of one PTX instruction: it is written before it is
  read, and if the write is guarded the reads are under the same guard. Hence any write of it, guarded or not,
  ends its live range upwards.
- **Beats.** LATCH is directly followed by the node that it serves, under the same guard: spill code for both goes
  before the LATCH. HIGH follows the producer of its value with at most spill code (LD, ST of local memory) between.
- A BRA names a `Label` that the body contains; guarded EXIT is legal; the body ends with an unconditional EXIT or BRA.
"""

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from warploom.arch.isa import MEMORY_OPS, Op, is_latched
from warploom.arch.modifiers import Atom, DType, Special
from warploom.arch.program import Parameter
from warploom.compiler import ptx
from warploom.compiler.scopes import parameter_symbol


class RegisterClass(Enum):
    """The class of a virtual register: it becomes one of R0..R254, or one of P0..P6."""

    GENERAL = "R"
    PREDICATE = "P"


class Half(Enum):
    """Half of a 64-bit pair that a virtual register is: the partner of LOW is number + 1, that of HIGH number - 1."""

    NONE = 0
    LOW = 1
    HIGH = 2


@dataclass(frozen=True, eq=False, slots=True)
class VirtualRegister:
    """A register before allocation: one object, whose `number` is unique in the function, over both classes.

    `local` marks a value inside the expansion of one PTX instruction (see the module's rules).
    """

    number: int
    kind: RegisterClass = RegisterClass.GENERAL
    half: Half = Half.NONE
    local: bool = False

    @property
    def is_predicate(self) -> bool:
        """True for the class PREDICATE."""
        return self.kind is RegisterClass.PREDICATE

    def __repr__(self) -> str:
        return f"{'vp' if self.is_predicate else 'v'}{self.number}"


@dataclass(frozen=True)
class Imm:
    """A 32-bit immediate operand, 1 .. 2**32 - 1 (zero is RZ, written None)."""

    value: int


@dataclass(frozen=True)
class Param:
    """The word at a byte offset of the parameter bank as an operand."""

    offset: int


CONSTANTS = (Imm, Param)
"""Kinds of operands of which a node can have only one."""

Operand = VirtualRegister | Imm | Param | None

_CHANGING = frozenset({Special.ACTIVEMASK, Special.CLOCK_LO, Special.CLOCK_HI, Special.GLOBALTIMER_LO,
                       Special.GLOBALTIMER_HI})

_EFFECTS = {*MEMORY_OPS, *(op for op in Op if op >= Op.BRA and op is not Op.PLOP3)}


@dataclass(eq=False, slots=True)
class Node:
    """One machine instruction over virtual registers; fields are those of `warploom.arch.isa.Instruction`.

    `modifiers` has only entries that `isa.MODIFIERS` allows for `op` and differ from the default. `imm` is the signed
    byte offset of a memory node or the barrier number; `target` is the label of a BRA; `line` is the PTX line. The
    immediate slot and the reconvergence point are filled in by the back end. `alignment` is that of the address of a
    PTX access in bytes, at its first part if it has several nodes; if the node accesses the word around it, it is less
    than the node's.
    """

    op: Op
    dst: VirtualRegister | None = None
    src: list[Operand] = field(default_factory=lambda: [None, None, None])
    guard: VirtualRegister | None = None
    guard_not: bool = False
    pdst: VirtualRegister | None = None
    psrc: VirtualRegister | None = None
    psrc_not: bool = False
    imm: int = 0
    target: str | None = None
    modifiers: dict[str, Any] = field(default_factory=dict)
    line: int = 0
    alignment: int = 1

    @property
    def reads(self) -> list[VirtualRegister]:
        """Virtual registers read, of both classes, including the guard; without duplicates."""
        found = [operand for operand in self.src if isinstance(operand, VirtualRegister)]
        if self.psrc is not None:
            found.append(self.psrc)
        if self.guard is not None:
            found.append(self.guard)
        return list(dict.fromkeys(found)) if len(found) > 1 else found

    @property
    def writes(self) -> list[VirtualRegister]:
        """Virtual registers written: the result, then the predicate result."""
        if self.pdst is None:
            return [] if self.dst is None else [self.dst]
        return [self.pdst] if self.dst is None else [self.dst, self.pdst]

    @property
    def has_effect(self) -> bool:
        """True if the node must stay even if its results are not read: memory, control, and votes for which lanes have
        to meet.

        A plain load stays because it must report an illegal address in the PTX. A LATCH stays or goes with the node
        that it serves. A HIGH goes if nothing reads its result; else the producer of its value stays, too.
        """
        return self.op in _EFFECTS or (self.op is Op.VOTE and self.modifiers.get("sync", False))

    @property
    def has_address(self) -> bool:
        """True if slots 0 and 1 hold an address. The address of a latched ATOM or RED is in the latch; its slots hold
        data."""
        return self.op in MEMORY_OPS and not is_latched(
            self.op, self.modifiers.get("atom", Atom.ADD), self.modifiers.get("dst_type", DType.U8))

    @property
    def rematerialisable(self) -> bool:
        """True for an unguarded MOV of a constant or parameter, or S2R of an unchanging special register.

        If it is the only write of its destination, the value can be rematerialised instead of spilled.
        """
        if self.guard is not None:
            return False
        if self.op is Op.S2R:
            return self.modifiers.get("special", Special.TID_X) not in _CHANGING
        return self.op is Op.MOV and not isinstance(self.src[0], VirtualRegister)

    def __repr__(self) -> str:
        guard = f"@{'!' if self.guard_not else ''}{self.guard} " if self.guard is not None else ""
        name = ".".join([self.op.name, *(f"{k}={getattr(v, 'name', v)}" for k, v in self.modifiers.items())])
        used = max((i + 1 for i, operand in enumerate(self.src) if operand is not None), default=0)
        parts = [str(r) for r in self.writes] + ["<-"] + [str(s) for s in self.src[:used]]
        if self.psrc is not None or self.psrc_not:
            parts.append(f"{'!' if self.psrc_not else ''}{self.psrc or 'PT'}")
        if self.imm or self.op in MEMORY_OPS:
            parts.append(f"{self.imm:+#x}")
        if self.target:
            parts.append(self.target)
        return f"{guard}{name} {' '.join(parts)}"


@dataclass(frozen=True)
class Label:
    """A branch target."""

    name: str


@dataclass
class Function:
    """A lowered kernel. `names` maps PTX register names to their virtual registers (64-bit ones to low, high), for
    messages and listings."""

    kernel: ptx.Kernel
    parameters: tuple[Parameter, ...]
    body: list[Node | Label] = field(default_factory=list)
    names: dict[str, tuple[VirtualRegister, ...]] = field(default_factory=dict)
    count: int = 0  # number of virtual registers so far

    def has_parameter_word(self, offset: int) -> bool:
        """True if the parameter bank has a whole word at a byte offset, so that it can be an operand. Reading any other
        offset stays a load, which fails when it is executed."""
        return offset % 4 == 0 and 0 <= offset <= self._parameter_bytes - 4

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of a unique name (`scopes.parameter_symbol`)."""
        return self._parameter_names.get(name)

    @cached_property
    def _parameter_bytes(self) -> int:
        return max((p.offset + p.size for p in self.parameters), default=0)

    @cached_property
    def _parameter_names(self) -> dict[str, Parameter]:
        return {parameter_symbol(p.name): p for p in self.parameters}

    def new(self, kind: RegisterClass = RegisterClass.GENERAL, local: bool = False) -> VirtualRegister:
        """A fresh virtual register."""
        self.count += 1
        return VirtualRegister(self.count - 1, kind, local=local)

    def new_pair(self, local: bool = False) -> tuple[VirtualRegister, VirtualRegister]:
        """Fresh registers for a 64-bit value: (low, high)."""
        self.count += 2
        general = RegisterClass.GENERAL
        return (VirtualRegister(self.count - 2, general, Half.LOW, local),
                VirtualRegister(self.count - 1, general, Half.HIGH, local))
