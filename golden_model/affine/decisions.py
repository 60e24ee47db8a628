"""`AffineDecisions`: issue where instructions may execute in the affine unit (docs/contract/front_end.md)."""

from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from typing import cast

from warploom.arch.compact import coming_cycles
from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Instruction, Op, Pipe
from warploom.arch.modifiers import Space
from warploom.golden_model.affine.counts import AffineCounts
from warploom.golden_model.affine.plan import Plan, Planner, Way, is_vector
from warploom.golden_model.affine.rules import COMPARISONS
from warploom.golden_model.affine.unit import AffineUnit
from warploom.golden_model.check import Checker
from warploom.golden_model.compact import Compact, compact_slots
from warploom.golden_model.front_end.decisions import (
    ATTEMPT,
    NO_PORT,
    PARTIAL,
    Answer,
    Claim,
    Issued,
    Lead,
    demand_of,
)
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.front_end.hazards import UNANSWERED
from warploom.golden_model.front_end.instructions import Instructions
from warploom.golden_model.front_end.pickers import slots_of_ports
from warploom.golden_model.front_end.simt import Position
from warploom.golden_model.front_end.warps import Follower, Warp
from warploom.golden_model.inputs import Attempts
from warploom.golden_model.named import named
from warploom.golden_model.operands.port import OperandStore
from warploom.golden_model.records import AttemptFields, IssueFields
from warploom.golden_model.trace import NONE, Traced
from warploom.golden_model.words import ALL_LANES

# To look up a member of an enumeration costs as much as three calls.
_ATTEMPT, _PARTIAL, _RESULT = Way.ATTEMPT, Way.PARTIAL, Way.RESULT
_EXPANSION, _DATAPATH = Way.EXPANSION, Way.DATAPATH
_LD, _SP, _SPACES = Op.LD, Pipe.SP, list(Space)

_NOTHING, _NONE_COMING = Issued(), dict[int, bool]()

ATTEMPTS = (_ATTEMPT, _PARTIAL)

OFFSET_SLOT = 2
"""The operand of an attempt that is the offset of a load."""


class Unanswered:
    """An attempt without outcome: its instruction, where the warp was, its fields and plan, and the values of its
    slots. `holds` are the hazard bits that it holds, without that of all attempts."""

    def __init__(
        self, static: Static, position: Position, fields: AttemptFields, plan: Plan, slots: tuple[Compact | None, ...]
    ) -> None:
        self.static, self.position, self.fields, self.plan, self.slots = static, position, fields, plan, slots
        self.holds = 0


class AffineDecisions:
    """Only a warp's own instructions make its registers compact or generic, so the next instruction is planned when the
    warp comes to it, and again when all its attempts have outcomes. Like a CONTROL instruction, an attempt needs no
    port. `unit` has the tags, and the store of `operands` the address slots; `checker` checks accepted attempts.
    """

    def __init__(  # noqa: PLR0917 - its sources
        self, config: SmConfig, trace: Traced, statics: Sequence[Static], unit: AffineUnit, operands: OperandStore,
        checker: Checker | None,
    ) -> None:
        self.counts = AffineCounts()
        self._config, self._instructions = config, Instructions(statics)
        self._unit, self._registers, self._operands, self._checker = unit, unit.registers, operands, checker
        self._warps: dict[int, Warp] = {}  # by slot, those with attempts
        self._attempted: dict[int, Unanswered] = {}  # by slot, in this cycle
        self._unanswered: list[deque[Unanswered]] = [deque() for _ in range(config.warps)]  # by slot, oldest first
        self._coming: dict[int, list[tuple[Warp, Unanswered]]] = {}  # by the cycle from which their results are used
        self._outcomes = unit.outcomes
        self._planner = Planner(config, trace, statics)
        self._has_address_slot, self._has_memory = config.has_address_slot, config.affine.has_memory
        self._addressing = 0  # slots whose next instruction goes to the address slot
        self._no_attempts: Attempts = (None,) * config.schedulers
        self._ports = slots_of_ports(config)
        self._sets = {kind: config.collector_set(kind) for kind in Pipe}

    # ------------------------------------------------------------------ wires

    def free_entries(self, free: Sequence[int]) -> Sequence[int]:
        """See `Decisions`."""
        addressing = self._addressing
        if not addressing:
            return free
        ready = sum(addressing & mask for port, mask in enumerate(self._ports)
                    if self._operands.address_ready >> port & 1)
        return (free[0] & ~addressing | ready, *free[1:])

    @property
    def apart(self) -> int:
        """See `Decisions`."""
        return self._addressing

    def lead(self, warp: Warp) -> Lead | None:
        """See `Decisions`, here and below."""
        plan = self._planned(warp)
        return Lead(plan.generic, plan.compact > 0) if plan.way is _DATAPATH else None

    def follow(self, follower: Follower) -> Claim | None:
        static, slot = follower.next, follower.slot
        plan = follower.plan = self._planner.plan(self._registers, follower, static, {}, refused=False)
        if plan.way is _PARTIAL:
            return None
        apart = self._is_addressed(static, plan)
        if apart and not self._operands.address_ready >> slot % len(self._ports) & 1:
            return None
        return Claim(self._demand(static, plan), apart, plan.compact > 0 or plan.way is not _DATAPATH)

    def attempts(self, picked: Sequence[Warp | Follower]) -> Attempts:
        """By set: the fields of the attempts among the picked instructions."""
        self._outcomes = self._unit.outcomes
        if not picked:
            return self._no_attempts
        sets = list(self._no_attempts)
        for warp in picked:
            plan: Plan | None = warp.plan
            if plan is not None and plan.way in ATTEMPTS:
                fields = sets[warp.slot % len(sets)] = self._attempt(warp, plan)
                position = warp.walk.position if isinstance(warp, Warp) else warp.walk
                self._attempted[warp.slot] = Unanswered(warp.next, position, fields, plan, self._values(fields))
        return tuple(sets)

    def _values(self, fields: AttemptFields) -> tuple[Compact | None, ...]:
        """The values of the slots of an attempt that read registers."""
        warp, reads, read = fields["warp"], fields["reads"], self._unit.read
        return (read(warp, fields["src0"]) if reads & 1 else None, read(warp, fields["src1"]) if reads & 2 else None,
                read(warp, fields["src2"]) if reads & 4 else None)

    def _attempt(self, warp: Warp | Follower, plan: Plan) -> AttemptFields:
        fields = cast(AttemptFields, self._instructions.fields(warp))
        fields["step"], fields["writes_predicate"] = 0, int(warp.next.hazards.writes_predicate)
        if plan.special is not None:
            fields["imm"], fields["step"] = plan.special.base, plan.special.stride
        if warp.next.op is _LD:
            fields["imm_slot"] = OFFSET_SLOT
        return fields

    def fields(self, warp: Warp | Follower) -> IssueFields:
        """See `Decisions`, here and below."""
        way, fields = self._planned(warp).way, warp.next.fields
        if way is _EXPANSION:
            move = expansion(fields["dst"])
            return {**move.fields, "warp": warp.slot, "lanes": ALL_LANES, "full": 1, "pred": 0,
                    "first": int(not warp.entered), "aside": int(self._config.has_hints), "compact": 1}
        if way is _RESULT:
            move = result_move(warp.next)
            return {**move.fields, "warp": warp.slot, "lanes": warp.walk.lanes, "full": 0, "pred": 0,
                    "first": int(not warp.entered), "aside": 0, "compact": 1}
        issued = self._instructions.fields(warp)
        issued["aside"], issued["compact"] = 0, compact_slots(self._planned(warp).slots)
        return issued

    def flight(self, warp: Warp, tag: int, cycle: int) -> Flight:
        plan = self._planned(warp)
        if plan.way is _EXPANSION:
            assert plan.destination is not None
            move, word = expansion(warp.next.fields["dst"]), plan.destination.word()
            return Flight(move, warp, tag, ALL_LANES, 0, NONE, NONE, cycle, word)
        flight = self._instructions.flight(warp, tag, cycle)
        if plan.way is _RESULT:
            flight.static, flight.pred_out, flight.address = result_move(warp.next), 0, NONE
            return flight
        if warp.next.op is _LD and self._has_memory:
            flight.vector = is_vector(warp.next, plan.slots, _SPACES[warp.trace.spaces[flight.address]])
            self.counts.vector_requests += flight.vector
        return flight

    def _planned(self, warp: Warp | Follower) -> Plan:
        """The plan for the warp's next instruction, which is not CONTROL and has lanes."""
        plan: Plan | None = warp.plan
        assert plan is not None
        return plan

    # ------------------------------------------------------------------ the end of a cycle

    def demand(self, warp: Warp, static: Static) -> int:
        """See `Decisions`, here and below."""
        if static.control or not warp.walk.lanes:
            warp.plan = None
            self._addressing &= ~(1 << warp.slot)
            return NO_PORT
        return self._demand(static, self._plan(warp, static, refused=False))

    def come(self, follower: Follower) -> None:
        follower.warp.plan = follower.plan  # the datapath has made its register generic meanwhile

    def issued(self, warp: Warp) -> Issued:
        static, plan = warp.next, warp.plan
        if plan is None:
            return _NOTHING
        way = plan.way
        if way is _ATTEMPT:
            return named(Issued, (None, (), None, self._attempts_now(warp)))
        if way is _PARTIAL:
            held = self._attempts_now(warp)
            moving = warp.plan = plan._replace(way=_RESULT)
            return named(Issued, (None, (), self._demand(static, moving), held))
        if way is _RESULT:
            self._count_entry(0, 1)
            return named(Issued, (result_move(static), (), None, 0))
        if way is _EXPANSION:
            self.counts.expansions += 1
            self._count_entry(0, 1)
            again = self._demand(static, self._plan(warp, static, refused=False))
            return named(Issued, (expansion(static.fields["dst"]), (), again, 0))
        self._count_entry(len(plan.generic), plan.compact)
        self._count_load(static, affine=not plan.generic)
        self.counts.compares += static.op in COMPARISONS
        return named(Issued, (static, plan.generic, None, 0))

    def _attempts_now(self, warp: Warp) -> int:
        """The warp's attempt has issued. Returns the hazard bits that are held now: its predicate until the outcome,
        and its register until the result is on its way."""
        attempt, hazards = self._attempted.pop(warp.slot), warp.next.hazards
        self.counts.attempts += 1
        self.counts.compact_reads += attempt.plan.compact
        written = 1 << attempt.fields["dst"] if attempt.fields["writes"] else 0
        attempt.holds = hazards.own & ~written
        if written and attempt.plan.way is _ATTEMPT and coming_cycles(warp.next.op) > 1:
            self._coming.setdefault(self._unit.cycle + coming_cycles(warp.next.op) - 1, []).append((warp, attempt))
            attempt.holds |= written
        self._warps[warp.slot] = warp
        self._unanswered[warp.slot].append(attempt)
        return attempt.holds | 1 << UNANSWERED

    def answers(self) -> Sequence[Answer]:
        found = []
        if self._coming:
            for warp, attempt in self._coming.pop(self._unit.cycle, ()):
                if attempt in self._unanswered[warp.slot]:
                    register = attempt.holds & (1 << attempt.fields["dst"])
                    attempt.holds &= ~register
                    found.append(named(Answer, (warp, register, None)))
        for outcome in self._outcomes:
            if outcome is not None:
                found.append(self._outcome(self._warps[outcome["warp"]], outcome))
        return found

    def _outcome(self, warp: Warp, outcome: Mapping[str, int]) -> Answer:
        """What became of the warp's oldest attempt, whose result has been written."""
        unanswered = self._unanswered[warp.slot]
        if not outcome["accepted"]:
            return self._refused(warp, unanswered)
        attempt = unanswered.popleft()
        self._accepted(warp, attempt, outcome["pred"])
        if unanswered:
            return named(Answer, (warp, attempt.holds, None))
        if attempt.plan.way is _PARTIAL:
            return named(Answer, (warp, attempt.holds | 1 << UNANSWERED, None))
        return named(Answer, (warp, attempt.holds | 1 << UNANSWERED, (warp.next, self.demand(warp, warp.next))))

    def _refused(self, warp: Warp, unanswered: deque[Unanswered]) -> Answer:
        """The warp goes back to the instruction, which now goes to the datapath."""
        self.counts.refused += 1
        self.counts.squashed += len(unanswered) - 1
        cleared = 1 << UNANSWERED
        for attempt in unanswered:
            cleared |= attempt.holds
        static = unanswered[0].static
        left = [attempt.position for attempt in unanswered if attempt.plan.way is _ATTEMPT]
        if left:
            warp.walk.go_back(left)
        unanswered.clear()
        return Answer(warp, cleared, (static, self._demand(static, self._plan(warp, static, refused=True))))

    def _accepted(self, warp: Warp, attempt: Unanswered, pred: int) -> None:
        counts, fields, op = self.counts, attempt.fields, attempt.static.op
        if attempt.plan.way is _PARTIAL:
            counts.suppressed += 1
        else:
            counts.accepted += 1
            counts.compact_writes += fields["writes"]
        counts.compares += op in COMPARISONS
        counts.resolved += op in COMPARISONS
        self._count_load(attempt.static, affine=True)
        if self._checker is not None:
            value = self._registers.read(warp.slot, fields["dst"]) if fields["writes"] else None
            flight = self._instructions.flight_at(warp, attempt.static, attempt.position)
            self._checker.accepted(flight, fields, attempt.slots, value, pred)

    def _plan(self, warp: Warp, static: Static, *, refused: bool) -> Plan:
        """Plan the warp's next instruction, `static`."""
        slot, coming = warp.slot, _NONE_COMING
        if self._unanswered[slot]:
            coming = {attempt.fields["dst"]: attempt.plan.affine != 0 for attempt in self._unanswered[slot]
                      if attempt.fields["writes"]}
        plan = warp.plan = self._planner.plan(self._registers, warp, static, coming, refused)
        if self._has_address_slot:
            bit = 1 << slot
            self._addressing &= ~bit
            if self._is_addressed(static, plan):
                self._addressing |= bit
        return plan

    def _is_addressed(self, static: Static, plan: Plan) -> bool:
        """Whether an instruction goes to an address slot."""
        return self._has_address_slot and static.op is _LD and not plan.generic and plan.way is _DATAPATH

    def _demand(self, static: Static, plan: Plan) -> int:
        """What an instruction demands of the datapath: a MOV needs a collector for SP."""
        if plan.way in ATTEMPTS:
            return PARTIAL if plan.way is _PARTIAL else ATTEMPT
        if plan.way is _DATAPATH:
            return demand_of(self._sets[static.instruction.pipe], len(plan.generic))
        return demand_of(self._sets[_SP], 0)

    def _count_load(self, static: Static, *, affine: bool) -> None:
        """An instruction goes on, whose address, if it is a load, takes no read of the register file if `affine`."""
        if static.op is _LD:
            self.counts.loads += 1
            self.counts.affine_loads += affine

    def _count_entry(self, generic: int, compact: int) -> None:
        """An instruction that reads this number of different registers enters the datapath."""
        self.counts.operands[generic] += 1
        self.counts.compact_reads += compact
        self.counts.expanded += compact


def expansion(register: int) -> Static:
    """The MOV that writes the value of a compact register to the register file."""
    return _move(register, to_collector=False, to_file=True)


def result_move(static: Static) -> Static:
    """The MOV that writes a result of the affine unit to the register file, for the executing lanes of an instruction.
    """
    instruction = static.instruction
    return _move(instruction.dst, to_collector=instruction.to_collector, to_file=instruction.to_file)


@cache
def _move(register: int, *, to_collector: bool, to_file: bool) -> Static:
    move = Instruction(op=Op.MOV, dst=register, src=(register, RZ, RZ), to_collector=to_collector, to_file=to_file)
    return Static(move, lambda offset: 0)
