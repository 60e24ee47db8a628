"""The instructions of a trace, in the form in which they issue (docs/contract/front_end.md)."""

from collections.abc import Sequence
from functools import cache

from warploom.arch.config import SmConfig
from warploom.golden_model.front_end.decisions import NO_PORT, Answer, Claim, Issued, Lead, demand_of
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.front_end.simt import Position
from warploom.golden_model.front_end.warps import Follower, Warp
from warploom.golden_model.inputs import Attempts
from warploom.golden_model.records import IssueFields
from warploom.golden_model.trace import NONE

_NOTHING = Issued()


class Instructions:
    """Fields and values of a warp's next instruction."""

    def __init__(self, statics: Sequence[Static]) -> None:
        self._counts = {pc for pc, static in enumerate(statics) if static.then is not None}

    def fields(self, warp: Warp | Follower) -> IssueFields:
        """The fields of the issue port, except the tag, of the warp's next instruction."""
        walk, fields = warp.walk, warp.next.fields.copy()
        fields["warp"], fields["lanes"], fields["full"] = warp.slot, walk.lanes, walk.full
        fields["pred"] = walk.pred_in
        if not warp.entered:
            fields["first"] = 1
        if self._counts and walk.pc in self._counts:
            lane = (walk.lanes & -walk.lanes).bit_length() - 1
            fields["imm"] = int(warp.trace.results[walk.result, lane])
        return fields

    def flight(self, warp: Warp, tag: int, cycle: int) -> Flight:
        """The warp's next instruction enters the datapath in this cycle."""
        walk = warp.walk
        return Flight(warp.next, warp, tag, walk.lanes, walk.pred_out, walk.result, walk.address, cycle,
                      _word(warp, walk.result))

    def flight_at(self, warp: Warp, static: Static, at: Position) -> Flight:
        """An instruction of the warp that does not enter the datapath."""
        return Flight(static, warp, 0, at.lanes, at.pred_out, at.result, at.address, 0, _word(warp, at.result))


def _word(warp: Warp, row: int) -> int:
    """A result of a warp as 1024 bits."""
    return 0 if row == NONE else int.from_bytes(warp.trace.results[row], "little")


class Direct:
    """The decisions without a plug-in: every instruction with executing lanes, except CONTROL, enters the datapath
    unchanged."""

    counts = None
    apart = 0

    def __init__(self, config: SmConfig, instructions: Instructions) -> None:
        self.fields, self.flight = instructions.fields, instructions.flight
        self._entering = cache(lambda static: Issued(static, static.hazards.sources))
        self._demand = cache(lambda static: demand_of(config.collector_set(static.instruction.pipe),
                                                      len(static.hazards.sources)))

    def free_entries(self, free: Sequence[int]) -> Sequence[int]:
        """See `Decisions`, here and below."""
        return free

    def lead(self, warp: Warp) -> Lead | None:
        return Lead(warp.next.hazards.sources)

    def follow(self, follower: Follower) -> Claim | None:
        return Claim(self._demand(follower.next))

    def attempts(self, picked: Sequence[Warp | Follower]) -> Attempts:
        return ()

    def demand(self, warp: Warp, static: Static) -> int:
        enters = not static.control and warp.walk.lanes != 0
        return self._demand(static) if enters else NO_PORT

    def come(self, follower: Follower) -> None:
        pass

    def issued(self, warp: Warp) -> Issued:
        return self._entering(warp.next) if warp.enters else _NOTHING

    def answers(self) -> Sequence[Answer]:
        return ()
