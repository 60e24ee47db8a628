"""PTX as data: the result of the parser, and the flat kernel from which lowering starts.

A `Module` mirrors the text. `warploom.compiler.linker` turns one entry of it into a flat `Kernel`: scopes resolved
(every name unique), device functions inlined, parameters of calls turned into moves. Lowering sees only a `Kernel`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from warploom.arch.memory_map import GLOBALS_BASE
from warploom.arch.program import Files, ModuleVariable

# ---------------------------------------------------------------- operands


@dataclass(frozen=True)
class Register:
    """A register by name, as written (`%r1`) or made unique by the linker; also the sink `_`."""

    name: str


@dataclass(frozen=True)
class Immediate:
    """A literal. `kind` is ``int`` (value: Python int, may be negative), ``f32`` or ``f64`` (value: the IEEE bits)."""

    kind: str
    value: int


@dataclass(frozen=True)
class Symbol:
    """A variable, parameter, function or special register (`%tid.x`) by name, with a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Address:
    """``[base + offset]``: the base is a register, a symbol, or an absolute literal."""

    base: "Register | Symbol | Immediate"
    offset: int = 0


@dataclass(frozen=True)
class Vector:
    """``{a, b, ...}``: registers, immediates or `_`."""

    items: tuple["Operand", ...]


@dataclass(frozen=True)
class Pair:
    """``p|q``: two destinations of setp, shfl or match; either may be `_`."""

    first: Register
    second: Register


@dataclass(frozen=True)
class Not:
    """``!p``: a negated predicate operand."""

    register: Register


Operand = Register | Immediate | Symbol | Address | Vector | Pair | Not

# ---------------------------------------------------------------- statements


@dataclass(frozen=True)
class Instruction:
    """One PTX instruction: ``@!%p1 mad.lo.s32 ...`` has opcode ``mad`` and modifiers ``("lo", "s32")``.

    Only `call` uses `lists`: (return parameters, argument parameters); its operands are the callee and, for a pointer,
    the name of a `Choice` or of an array of functions. `written` are the modifiers of the text if the compiler has
    changed them.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | Not | None
    line: int
    column: int
    lists: tuple[tuple[Operand, ...], tuple[Operand, ...]] | None = None
    written: tuple[str, ...] | None = None

    @property
    def full_opcode(self) -> str:
        """The opcode with its modifiers, as written."""
        return ".".join((self.opcode, *(self.written or self.modifiers)))


@dataclass(frozen=True)
class Label:
    """A branch target; with `targets`, as pairs like those of `Registers`, the name of a table for `brx.idx`."""

    name: str
    line: int
    targets: tuple[tuple[str, int], ...] = ()

    @property
    def names(self) -> Iterator[str]:
        """The labels in the table, in order: ``N<3>`` stands for N0, N1 and N2."""
        for name, count in self.targets:
            yield from (f"{name}{number}" for number in range(count)) if count else (name,)


@dataclass(frozen=True)
class Choice:
    """``name: .calltargets f, g;``, the `functions` that a call through a pointer may lead to; without them
    ``name: .callprototype (...) _ (...);``, the results and parameters of those functions."""

    name: str = ""
    line: int = 0
    functions: tuple[str, ...] = ()
    returns: "tuple[Variable, ...]" = ()
    parameters: "tuple[Variable, ...]" = ()


@dataclass(frozen=True)
class Registers:
    """``.reg .b32 %r<6>;``: each (name, count); count 0 for a single register without ``<n>``."""

    type: str
    names: tuple[tuple[str, int], ...]
    line: int


@dataclass(frozen=True)
class Variable:
    """A variable of any space. `type` is that of an element (``b8``, ``f32``...), `dimensions` () for a scalar,
    (0,) for an extern array without size. `initial` is its image as far as it is given; `pointers` lists
    (byte offset, symbol, generic, which bytes of it) of addresses inside it that the linker fills in."""

    space: str  # global, shared, local, const, param; reg of a function's parameter in a register
    type: str
    name: str
    line: int
    align: int = 0
    dimensions: tuple[int, ...] = ()
    vector: int = 1
    initial: bytes = b""
    pointers: tuple[tuple[int, Symbol, bool, range], ...] = ()
    linkage: str = ""  # visible, extern, weak, common

    @property
    def extern(self) -> bool:
        """Whether it is only declared here, or dynamic shared memory."""
        return self.linkage == "extern"

    @property
    def is_defined(self) -> bool:
        """Whether it is more than a declaration."""
        return not self.extern

    @property
    def size(self) -> int:
        """Bytes; 0 for an extern array without size, and for textures and what else no register has."""
        count = self.vector
        for extent in self.dimensions:
            count *= extent
        return count * TYPE_BYTES.get(self.type, 0)

    @property
    def alignment(self) -> int:
        """Bytes: as declared, or that of the element or vector."""
        return self.align or TYPE_BYTES.get(self.type, 1) * self.vector


@dataclass(frozen=True)
class Block:
    """``{ ... }``: a nested scope."""

    body: tuple["Statement", ...]


Statement = Instruction | Label | Choice | Registers | Variable | Block

# ---------------------------------------------------------------- module and kernel


@dataclass(frozen=True)
class Function:
    """An entry or device function. `body` is None for a prototype."""

    name: str
    is_entry: bool
    parameters: tuple[Variable, ...]
    returns: tuple[Variable, ...]
    body: Block | None
    line: int
    max_threads: int = 0  # product of .maxntid, 0 if absent
    block: tuple[int, ...] = ()  # x, y, z of .reqntid, empty if absent
    linkage: str = ""  # as of variables

    @property
    def is_defined(self) -> bool:
        """Whether it has a body."""
        return self.body is not None

    @property
    def statements(self) -> Iterator[Statement]:
        """All statements of the body, those of nested blocks instead of the blocks."""
        waiting = [*reversed(self.body.body)] if self.body else []
        while waiting:
            statement = waiting.pop()
            if isinstance(statement, Block):
                waiting += reversed(statement.body)
            else:
                yield statement


@dataclass(frozen=True)
class Module:
    """A whole PTX file; `text` is its source, for messages. The lines of all in it are counted from `before`: those of
    several files go on."""

    file: str
    version: str
    target: str
    variables: tuple[Variable, ...]
    functions: tuple[Function, ...]
    text: str = ""
    before: int = 0


@dataclass(eq=False)
class Activation:
    """A recursive function in the code of a `region`, where it stands once, behind the label `start`. Its variables in
    memory are those of `variables` that the kernel has, in `size` bytes of its frame."""

    function: str
    region: str
    start: str
    arguments: tuple[Variable, ...]  # where each call leaves the arguments, and finds the results
    returns: tuple[Variable, ...]
    variables: list[Variable] = field(default_factory=list)  # by unique name
    size: int = 0


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a recursive function. The labels are where it leaves the caller, and `site`, where it comes back; the
    `number` of that place is on the stack meanwhile. `caller` is None outside of recursive functions. The call that
    `enters` a region is followed by all of its code. `stop` is the number of the message for a full stack."""

    leaves: str
    site: str
    number: int
    caller: Activation | None
    callee: Activation
    enters: bool
    stop: int
    line: int


@dataclass
class Kernel:
    """One entry, flat: the input of lowering.

    `registers` maps every register name to its PTX type (``pred``, ``b16``, ``u32``, ``f64``...). `parameters` have
    space ``param`` in order of declaration. `variables` holds the variables that the kernel may refer to, by unique
    name, in every other space; `base` maps a variable to its byte offset in its space (for `global` the full address).
    `functions` has the addresses of functions. `calls` are those of recursive functions, whose variables have their
    offsets in a frame of the stack in `frames`.
    `body` has only instructions and labels: no calls, no `ld.param` of anything but kernel parameters.
    """

    name: str
    file: str
    line: int
    registers: dict[str, str]
    parameters: tuple[Variable, ...]
    variables: dict[str, Variable]
    functions: dict[str, int]
    base: dict[str, int]
    body: list[Instruction | Label]
    max_threads: int = 0
    block: tuple[int, ...] = ()
    shared_bytes: int = 0  # static; dynamic shared variables have this (aligned) as base
    local_bytes: int = 0
    constants: bytes = b""
    globals: bytes = b""
    globals_base: int = GLOBALS_BASE
    module: tuple[ModuleVariable, ...] = ()  # what `constants` and `globals` hold
    stops: tuple[str, ...] = ()
    files: Files = ()
    grid_barrier: bool = False
    calls: tuple[Call, ...] = ()
    frames: dict[str, int] = field(default_factory=dict)


TYPE_BYTES = {
    "pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4,
    "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "u16x2": 4, "s16x2": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8,
    "f32x2": 8, "b128": 16,
}
"""Bytes of each PTX type."""
