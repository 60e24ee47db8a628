"""`Planner`: decides how an instruction with executing lanes is executed (docs/contract/front_end.md)."""

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import Tag
from warploom.arch.isa import Op
from warploom.arch.modifiers import Space
from warploom.golden_model.affine.register_file import AffineRegisterFile
from warploom.golden_model.affine.rules import is_eligible, may_execute
from warploom.golden_model.affine.special import special_value
from warploom.golden_model.compact import Compact
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.warps import Warp
from warploom.golden_model.lane import decode_modifiers
from warploom.golden_model.operands.collector import SOURCES
from warploom.golden_model.trace import Trace
from warploom.golden_model.words import WORD_MASK


class Way(Enum):
    """The first step of an instruction: it executes in the affine unit, its destination is expanded, or it issues into
    the datapath."""

    ATTEMPT = auto()
    EXPANSION = auto()
    DATAPATH = auto()


class Plan(NamedTuple):
    """How an instruction is executed. `slots` are the values of slots that read compact registers, None for others;
    `generic` are the distinct registers that it reads in the register file, and `compact` is the number of compact
    ones. `destination` is the old value of the register that it writes, and `special` the value that S2R reads, if
    compact. `suppressed`: it is not attempted only because it is not full."""

    way: Way
    slots: tuple[Compact | None, ...]
    generic: tuple[int, ...]
    compact: int
    destination: Compact | None
    special: Compact | None
    suppressed: bool


class Planner:
    """Makes plans for the instructions of a trace, from the tags of their registers."""

    def __init__(self, config: SmConfig, trace: Trace, statics: Sequence[Static]) -> None:
        self._launch, self._shared_bytes = trace.launch, trace.program.shared_bytes
        moves = [static.then for static in statics if static.then is not None]
        self._eligible = {static for static in (*statics, *moves) if is_eligible(static.instruction, config.affine)}

    def plan(self, registers: AffineRegisterFile, warp: Warp, static: Static, *, refused: bool) -> Plan:
        """The plan for the warp's next instruction; `refused`: an attempt at it was refused before."""
        fields, slot = static.fields, warp.slot
        slots = tuple(registers.read(slot, fields[source]) if fields["reads"] >> number & 1 else None
                      for number, source in enumerate(SOURCES))
        sources = static.hazards.sources
        generic = tuple(register for register in sources if registers.read(slot, register) is None)
        destination = registers.read(slot, fields["dst"]) if fields["writes"] else None
        special, full = self._special(warp, static), warp.walk.full
        able = not (generic or refused) and self._may_execute(static, slots, special)
        way = Way.DATAPATH
        if able and (full or not fields["writes"]):
            way = Way.ATTEMPT
        elif not full and destination is not None:
            way = Way.EXPANSION
        compact, suppressed = len(sources) - len(generic), able and way is not Way.ATTEMPT
        return Plan(way, slots, generic, compact, destination, special, suppressed)

    def _special(self, warp: Warp, static: Static) -> Compact | None:
        if static.op is not Op.S2R:
            return None
        block, number = divmod(warp.number, self._launch.warps_per_block)
        return special_value(static.instruction.special, self._launch, block, number, shared_bytes=self._shared_bytes)

    def _may_execute(self, static: Static, slots: Sequence[Compact | None], special: Compact | None) -> bool:
        """The operation is eligible, and may be attempted with the tags of its slots, none of which is generic."""
        if static not in self._eligible or (static.op is Op.S2R and special is None):
            return False
        values = (special, None, None) if static.op is Op.S2R else slots
        a, b, c = (Tag.UNIFORM if value is None else value.tag for value in values)
        return may_execute(static.op, decode_modifiers(static.op, static.fields["modifiers"]), (a, b, c))


def is_vector(static: Static, slots: Sequence[Compact | None], space: Space) -> bool:
    """Whether an LD from a space makes a vector request: its address is compact, the stride is the size of the access,
    no lane wraps, and lines are what is requested."""
    instruction = static.instruction
    low, high = slots[:2]
    if space in (Space.SHARED, Space.LOCAL) or low is None or low.stride != instruction.access.size:
        return False
    if instruction.wide and static.fields["reads"] & 2 and (high is None or high.stride):
        return False
    return low.base + (LANES - 1) * low.stride <= WORD_MASK
