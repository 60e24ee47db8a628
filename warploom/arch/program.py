"""`Program`: one compiled kernel, the interface between compiler and golden model; and its control flow."""

from collections.abc import Sequence
from dataclasses import dataclass

from warploom.arch.isa import Instruction, Op
from warploom.arch.memory_map import GLOBALS_BASE
from warploom.arch.modifiers import Space

REGISTER_BITS = 8
"""Bits of a register number in machine code."""


Files = Sequence[tuple[str, int]]
"""PTX files, and how many lines are before the first of each: the lines of several are counted as if they were one."""


def place(files: Files, line: int) -> tuple[str, int]:
    """The file of a line, and its number there."""
    file, before = next(found for found in reversed(files) if found[1] < line or found is files[0])
    return file, line - before


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter in the parameter bank: PTX type (``u64``, ``f32``, ``b8``...), byte offset and size."""

    name: str
    type: str
    offset: int
    size: int


@dataclass(frozen=True)
class ModuleVariable:
    """A `.const` or `.global` variable: its name in the PTX, space, and `offset` in the image of that space, both in
    bytes. ``@`` and the function follow the name of one that a function declares. `unset`: the kernel reads it, and
    neither an initialiser nor the kernel gives it a value."""

    name: str
    space: Space
    offset: int
    size: int
    unset: bool = False

    @property
    def has_host_name(self) -> bool:
        """Whether the host can name the variable; no function declares it then."""
        return "@" not in self.name


@dataclass(frozen=True)
class Hints:
    """Hints for the register file of CORF and CORF++ (docs/corf.md). `pairs` are registers that instructions often read
    together, each in at most one pair; `left` are those to store on the left if nothing else decides."""

    pairs: tuple[tuple[int, int], ...] = ()
    left: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Program:
    """Machine code of one kernel, and the resources that it needs.

    `lines[i]` is the PTX line of `instructions[i]`. `registers` is the number of registers of a thread (1..255) in the
    register file: R0 and the following. The `unallocated` registers after them hold transient values, which only window
    collectors ever have (docs/contract/operands.md). Shared memory holds static variables from byte 0; dynamic shared
    memory starts at `shared_bytes`. `local_bytes` of each thread cover local arrays and spill slots. `constants` is the
    image of `.const` variables, `globals` that of `.global` variables, loaded at `globals_base`; both with initial
    values. `module` lists the variables in these images. `max_threads` is the block size given by `.maxntid`, 0 without
    it, `block` the extents required by `.reqntid`, empty without it. `hints` change no result. `alignments` are
    (instruction, bytes) of loads and stores that are the first part of a larger access, of 64 bits or a vector: the
    alignment of its address, which execution checks. Others are fewer bytes than the instruction accesses, which are
    all that has to lie in memory: a 16-bit atomic accesses the word around its operand. `stops` are the messages of
    TRAPs, whose `imm` is 1 for the first; that of 0 stands for itself. `source` is the PTX file; if they are several,
    it names all, and `files` says which lines are in which.
    `last_reads` are, for renaming, the slots of each instruction that read a register for the last time: a mask.
    With a `grid_barrier` blocks may wait for all others.
    """

    name: str
    source: str
    instructions: tuple[Instruction, ...]
    lines: tuple[int, ...]
    registers: int
    parameters: tuple[Parameter, ...] = ()
    shared_bytes: int = 0
    local_bytes: int = 0
    constants: bytes = b""
    globals: bytes = b""
    globals_base: int = GLOBALS_BASE
    module: tuple[ModuleVariable, ...] = ()
    max_threads: int = 0
    block: tuple[int, ...] = ()
    hints: Hints = Hints()
    unallocated: int = 0
    alignments: tuple[tuple[int, int], ...] = ()
    order_hints: tuple[tuple[int, int], ...] = ()
    last_reads: tuple[int, ...] = ()
    stops: tuple[str, ...] = ()
    files: tuple[tuple[str, int], ...] = ()
    grid_barrier: bool = False

    def __post_init__(self) -> None:
        assert len(self.lines) == len(self.instructions)

    def place(self, pc: int) -> tuple[str, int]:
        """The PTX file and the line of an instruction."""
        return place(self.files or ((self.source, 0),), self.lines[pc])

    def at(self, pc: int) -> str:
        """The same for messages."""
        file, line = self.place(pc)
        return f"{file}:{line}"

    @property
    def names(self) -> int:
        """The number of registers that the code may name."""
        return self.registers + self.unallocated

    @property
    def parameter_bytes(self) -> int:
        """Size of the parameter bank."""
        return max((p.offset + p.size for p in self.parameters), default=0)

    def hint_bits(self, sides: bool) -> int:
        """Bits that the hints add to the machine code: two register numbers for each pair and, with `sides` (CORF++),
        one bit for each register."""
        return 2 * REGISTER_BITS * len(self.hints.pairs) + (self.registers if sides else 0)


def successors(code: Sequence[Instruction]) -> list[list[int]]:
    """For each instruction its possible successors: the following one, the target of a branch, both, or none."""
    return [_successors(pc, instruction, len(code)) for pc, instruction in enumerate(code)]


def _successors(pc: int, instruction: Instruction, end: int) -> list[int]:
    leaves = instruction.op in (Op.BRA, Op.EXIT, Op.TRAP) and not instruction.guarded
    following = [] if leaves or pc + 1 == end else [pc + 1]
    return [*following, instruction.imm] if instruction.op is Op.BRA else following
