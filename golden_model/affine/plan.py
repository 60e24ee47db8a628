"""`Planner`: decides how an instruction with executing lanes is executed (docs/contract/front_end.md)."""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import Op
from warploom.arch.modifiers import Space
from warploom.golden_model.affine.register_file import AffineRegisterFile
from warploom.golden_model.affine.rules import UNIFORM_OPS, affine_slots, is_eligible
from warploom.golden_model.affine.special import special_value
from warploom.golden_model.compact import Compact
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
    and `affine` is the mask of those that are affine, as far as is known; `generic` are the distinct registers that it
    reads in the register file, and `compact` is the number of compact ones. `destination` is the old value of the
    register that it writes, and `special` the value that S2R reads, if compact."""

    way: Way
    slots: tuple[Compact | None, ...]
    affine: int
    generic: tuple[int, ...]
    compact: int
    destination: Compact | None
    special: Compact | None


class Planner:
    """Makes plans for the instructions of a trace, from the tags of their registers."""

    def __init__(self, config: SmConfig, trace: Traced, statics: Sequence[Static]) -> None:
        self._launch, self._shared_bytes = trace.launch, trace.program.shared_bytes
        moves = [static.then for static in statics if static.then is not None]
        # Of eligible instructions: the sets of slots that may be affine.
        self._may_be_affine = {
            static: affine_slots(static.op, decode_modifiers(static.op, static.fields["modifiers"]))
            for static in (*statics, *moves) if is_eligible(static.instruction, config.affine)}

    def plan(
        self, registers: AffineRegisterFile, warp: Warp | Follower, static: Static, coming: Mapping[int, bool],
        refused: bool,
    ) -> Plan:
        """The plan for the warp's next instruction. `coming` are the registers that attempts without outcome write, and
        whether they may be affine; `refused`: an attempt at it was refused before."""
        fields, values = static.fields, registers.of_warp(warp.slot)
        read, reads, sources = values.get, fields["reads"], static.hazards.sources
        slots = (read(fields["src0"]) if reads & 1 else None, read(fields["src1"]) if reads & 2 else None,
                 read(fields["src2"]) if reads & 4 else None)
        generic = tuple([register for register in sources if register not in values and register not in coming])
        destination = read(fields["dst"]) if fields["writes"] else None
        special, full = self._special(warp, static) if static.op is _S2R else None, warp.walk.full
        affine = self._affine(static, slots, special, coming)
        early = coming and static.op in UNIFORM_OPS and not coming.keys().isdisjoint(sources)
        able = not (generic or refused or early) and self._may_execute(static, affine, special)
        way = _ATTEMPT if able else _DATAPATH
        if fields["writes"] and not full:
            is_compact = destination is not None or fields["dst"] in coming
            way = _EXPANSION if is_compact else _PARTIAL if able else _DATAPATH
        return named(Plan, (way, slots, affine, generic, len(sources) - len(generic), destination, special))

    @staticmethod
    def _affine(
        static: Static, slots: Sequence[Compact | None], special: Compact | None, coming: Mapping[int, bool]
    ) -> int:
        """The slots that are affine; a constant is uniform, and of a generic register it does not matter."""
        if static.op is _S2R:
            return int(special is not None and special.stride != 0)
        a, b, c = slots
        affine = ((a is not None and a.stride != 0) | (b is not None and b.stride != 0) << 1
                  | (c is not None and c.stride != 0) << 2)
        if coming:
            fields = static.fields
            for slot, source in enumerate(SOURCES):
                if fields["reads"] >> slot & 1 and fields[source] in coming:
                    affine = affine & ~(1 << slot) | coming[fields[source]] << slot
        return affine

    def _special(self, warp: Warp | Follower, static: Static) -> Compact | None:
        """The value that an S2R reads, if it is compact."""
        block, number = divmod(warp.number, self._launch.warps_per_block)
        return special_value(static.instruction.special, self._launch, block, number, shared_bytes=self._shared_bytes)

    def _may_execute(self, static: Static, affine: int, special: Compact | None) -> bool:
        """The operation is eligible, and may be attempted if these slots are affine and the others uniform."""
        return affine in self._may_be_affine.get(static, ()) and (static.op is not _S2R or special is not None)


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
