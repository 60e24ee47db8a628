"""Which instructions may execute before older ones of their warp (docs/contract/hints.md, *What the compiler promises*,
rules 8 and 9)."""

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Function, Space

FENCES = frozenset({Op.BAR, Op.BARRED, Op.MEMBAR})
STORES = frozenset({Op.ST, Op.RED, Op.ATOM})

_NEVER = FENCES | STORES | {Op.EXIT, Op.TRAP, Op.NOP, Op.LATCH, Op.HIGH, Op.DRCP, Op.DSQRT}
_UNCHANGING = (Space.CONST, Space.PARAM)
_ANY_SPACE = sum(1 << space for space in Space if space not in _UNCHANGING)


def may_pass(instruction: Instruction) -> bool:
    """Whether an instruction of this kind may execute before older ones at all."""
    if instruction.op in _NEVER or instruction.latched:
        return False
    if instruction.op is Op.CVT:
        return not instruction.dst_type.is_wide
    return instruction.op is not Op.MUFU or instruction.function not in (Function.RCP64H, Function.RSQ64H)


def stored(instruction: Instruction) -> int:
    """The spaces, bits of a mask, whose loads may not pass an instruction."""
    if instruction.op in FENCES or (instruction.op in STORES and instruction.space is Space.GENERIC):
        return _ANY_SPACE
    return 1 << Space.GENERIC | 1 << instruction.space if instruction.op in STORES else 0


def must_follow(instruction: Instruction, spaces: int) -> bool:
    """Whether an instruction is a load that may not pass instructions for which `stored` gives these spaces."""
    loads = instruction.op is Op.LD and instruction.space not in _UNCHANGING
    return loads and bool(spaces >> instruction.space & 1)
