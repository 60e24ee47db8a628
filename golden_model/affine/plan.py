"""`Planner`: decides how an instruction with executing lanes is executed (docs/contract/front_end.md)."""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import Tag
from warploom.arch.isa import Op
from warploom.arch.modifiers import Space
from warploom.golden_model.affine.register_file import AffineRegisterFile
from warploom.golden_model.affine.rules import UNIFORM_OPS, is_eligible, may_execute
from warploom.golden_model.affine.special import special_value
from warploom.golden_model.compact import AFFINE, UNIFORM, Compact
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.warps import Follower, Warp
from warploom.golden_model.lane import decode_modifiers
from warploom.golden_model.named import named
from warploom.golden_model.records import SOURCES
from warploom.golden_model.trace import Traced
from warploom.golden_model.words import WORD_MASK


class Way(Enum):
    """The next step of an instruction: it executes in the affine unit, the same for some of the live lanes, the result
    of that goes into the datapath, its destination is expanded, or it issues into the datapath."""

    ATTEMPT = auto()
    PARTIAL = auto()
    RESULT = auto()
    EXPANSION = auto()
    DATAPATH = auto()


# To look up a member of an enumeration costs as much as three calls.
_ATTEMPT, _PARTIAL, _EXPANSION, _DATAPATH = Way.ATTEMPT, Way.PARTIAL, Way.EXPANSION, Way.DATAPATH
_S2R, _APART = Op.S2R, (Space.SHARED, Space.LOCAL)


class Plan(NamedTuple):
    """How an instruction is executed. `slots` are the values of slots that read compact registers, None for others,
    and `tags` the tags of all slots, as far as they are known; `generic` are the distinct registers that it reads in
    the register file, and `compact` is the number of compact ones. `destination` is the old value of the register that
    it writes, and `special` the value that S2R reads, if compact."""

    way: Way
    slots: tuple[Compact | None, ...]
    tags: tuple[Tag, ...]
    generic: tuple[int, ...]
    compact: int
    destination: Compact | None
    special: Compact | None


class Planner:
    """Makes plans for the instructions of a trace, from the tags of their registers."""

    def __init__(self, config: SmConfig, trace: Traced, statics: Sequence[Static]) -> None:
        self._launch, self._shared_bytes = trace.launch, trace.program.shared_bytes
        moves = [static.then for static in statics if static.then is not None]
        self._eligible = {static for static in (*statics, *moves) if is_eligible(static.instruction, config.affine)}

    def plan(
        self, registers: AffineRegisterFile, warp: Warp | Follower, static: Static, coming: Mapping[int, Tag],
        refused: bool,
    ) -> Plan:
        """The plan for the warp's next instruction. `coming` are the registers that attempts without outcome write, and
        their tags, AFFINE if not known; `refused`: an attempt at it was refused before."""
        fields, slot, read = static.fields, warp.slot, registers.read
        reads, sources = fields["reads"], static.hazards.sources
        slots = (read(slot, fields["src0"]) if reads & 1 else None, read(slot, fields["src1"]) if reads & 2 else None,
                 read(slot, fields["src2"]) if reads & 4 else None)
        generic = tuple([register for register in sources if register not in coming and read(slot, register) is None])
        destination = read(slot, fields["dst"]) if fields["writes"] else None
        special, full = self._special(warp, static) if static.op is _S2R else None, warp.walk.full
        tags = self._tags(static, slots, special, coming)
        early = coming and static.op in UNIFORM_OPS and not coming.keys().isdisjoint(sources)
        able = not (generic or refused or early) and self._may_execute(static, tags, special)
        way = _ATTEMPT if able else _DATAPATH
        if fields["writes"] and not full:
            is_compact = destination is not None or fields["dst"] in coming
            way = _EXPANSION if is_compact else _PARTIAL if able else _DATAPATH
        return named(Plan, (way, slots, tags, generic, len(sources) - len(generic), destination, special))

    @staticmethod
    def _tags(
        static: Static, slots: Sequence[Compact | None], special: Compact | None, coming: Mapping[int, Tag]
    ) -> tuple[Tag, ...]:
        """Tags of the slots; a constant is uniform, and of a generic register the tag does not matter."""
        if static.op is _S2R:
            return (UNIFORM if special is None else special.tag, UNIFORM, UNIFORM)
        a, b, c = slots
        known = (AFFINE if a is not None and a.stride else UNIFORM, AFFINE if b is not None and b.stride else UNIFORM,
                 AFFINE if c is not None and c.stride else UNIFORM)
        if not coming:
            return known
        fields = static.fields
        return tuple(coming.get(fields[source], tag) if fields["reads"] >> slot & 1 else tag
                     for slot, (source, tag) in enumerate(zip(SOURCES, known, strict=True)))

    def _special(self, warp: Warp | Follower, static: Static) -> Compact | None:
        """The value that an S2R reads, if it is compact."""
        block, number = divmod(warp.number, self._launch.warps_per_block)
        return special_value(static.instruction.special, self._launch, block, number, shared_bytes=self._shared_bytes)

    def _may_execute(self, static: Static, tags: Sequence[Tag], special: Compact | None) -> bool:
        """The operation is eligible, and may be attempted with the tags of its slots, none of which is generic."""
        if static not in self._eligible or (static.op is _S2R and special is None):
            return False
        a, b, c = tags
        return may_execute(static.op, decode_modifiers(static.op, static.fields["modifiers"]), (a, b, c))


def is_vector(static: Static, slots: Sequence[Compact | None], space: Space) -> bool:
    """Whether an LD from a space makes a vector request: its address is compact, the stride is the size of the access,
    no lane wraps, and lines are what is requested."""
    instruction = static.instruction
    low, high = slots[:2]
    if space in _APART or low is None or low.stride != instruction.access.size:
        return False
    if instruction.wide and static.fields["reads"] & 2 and (high is None or high.stride):
        return False
    return low.base + (LANES - 1) * low.stride <= WORD_MASK
