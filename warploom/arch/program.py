"""`Program`: one compiled kernel, the only thing that passes from the compiler to the golden model."""

from dataclasses import dataclass

from warploom.arch.isa import Instruction


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter in the parameter bank: PTX type (``u64``, ``f32``, ``b8``...), byte offset and size."""

    name: str
    type: str
    offset: int
    size: int


@dataclass(frozen=True)
class Program:
    """Machine code of one kernel and what it needs from its surroundings.

    `lines[i]` is the PTX line of `instructions[i]`. `registers` counts registers per thread (1..255), of which the
    register file holds all. Shared memory holds static variables from byte 0; dynamic shared memory starts at
    `shared_bytes`. `local_bytes` per thread covers local arrays and spill slots. `constants` is the image of `.const`,
    `globals` that of `.global` variables, loaded at `memory_map.GLOBALS_BASE`; both with initial values.
    `max_threads` is the block size that `.maxntid` promises, 0 if it says nothing.
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
    max_threads: int = 0

    def __post_init__(self) -> None:
        assert len(self.lines) == len(self.instructions)

    @property
    def parameter_bytes(self) -> int:
        """Size of the parameter bank."""
        return max((p.offset + p.size for p in self.parameters), default=0)
