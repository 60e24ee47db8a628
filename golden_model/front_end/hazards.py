"""`Hazards`: the hazard bits of an instruction (docs/contract/front_end.md, *Hazards*).

All hazards of a warp are bits of one integer. So are those that an instruction must wait for: it may issue when the two
have no common bit. Bits 0..255 are registers still to be written, the next ones predicates, then the shared resources
below; from `READ` on, registers still to be read.
"""

from warploom.arch.isa import PT, RZ, Instruction, Op, Pipe
from warploom.arch.modifiers import Function

PREDICATE = 256
LATCH = {Pipe.SFU: 264, Pipe.MEM: 265}
MEMORY = 266  # a memory instruction is outstanding
BARRIER = 267
UNANSWERED = 268  # an attempt of the affine unit has no outcome yet
READ = 272
ALONE = 1 << BARRIER | 1 << UNANSWERED
"""What every instruction waits for. Only an attempt may follow an attempt without outcome."""
READ_MASK = ((1 << 256) - 1) << READ

_WIDE_OPS = frozenset({Op.LDIV, Op.LREM, Op.DADD, Op.DMUL, Op.DFMA, Op.DMIN, Op.DMAX, Op.DDIV, Op.DRCP, Op.DSQRT})


def has_wide_result(instruction: Instruction) -> bool:
    """Whether the unit stores the high word of a 64-bit result for `Op.HIGH`."""
    if instruction.op is Op.MUFU:
        return instruction.function in (Function.RCP64H, Function.RSQ64H)
    if instruction.op in (Op.CVT, Op.ATOM):
        return instruction.dst_type.is_wide
    return instruction.op in _WIDE_OPS


class Hazards:
    """The hazard bits of one static instruction: those that it `needs` clear (among them `written`, because it writes a
    register), and those that it sets while in flight."""

    def __init__(self, instruction: Instruction) -> None:
        self._instruction = instruction
        registers = sum(1 << register for register in instruction.sources)
        written = 1 << instruction.dst if instruction.dst != RZ else 0
        predicates = sum(1 << PREDICATE + p for p in instruction.predicates_read)
        predicate_written = 1 << PREDICATE + instruction.pdst if instruction.pdst != PT else 0
        self.own = written | predicate_written
        self.writes_predicate = predicate_written != 0
        self.shared = self._shared()
        self.produces = self.own | sum(1 << bit for bit in self.shared)
        self.needs = registers | self.own | predicates | written << READ | ALONE | self._needs_shared()
        self.written = written | written << READ
        self.sources = instruction.sources

    def _shared(self) -> tuple[int, ...]:
        instruction = self._instruction
        bits = (MEMORY,) if instruction.pipe is Pipe.MEM else ()
        holds = instruction.op is Op.LATCH or instruction.latched or has_wide_result(instruction)
        return (*bits, LATCH[instruction.pipe]) if holds else bits

    def _needs_shared(self) -> int:
        instruction = self._instruction
        if instruction.op is Op.MEMBAR:
            return 1 << MEMORY
        waits = instruction.op in (Op.LATCH, Op.HIGH) or has_wide_result(instruction)
        return 1 << LATCH[instruction.pipe] if waits and not instruction.latched else 0
