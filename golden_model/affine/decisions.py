"""`AffineDecisions`: issue where instructions may execute in the affine unit (docs/contract/front_end.md)."""

from collections.abc import Mapping, Sequence
from functools import cache

from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Instruction, Op, Pipe
from warploom.arch.modifiers import Space
from warploom.golden_model.affine.counts import AffineCounts
from warploom.golden_model.affine.plan import Plan, Planner, Way, is_vector
from warploom.golden_model.affine.rules import COMPARISONS
from warploom.golden_model.affine.unit import AffineUnit
from warploom.golden_model.check import Checker
from warploom.golden_model.front_end.decisions import NO_PORT, Issued, demand_of
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.front_end.instructions import Instructions
from warploom.golden_model.front_end.pickers import slots_of_ports
from warploom.golden_model.front_end.warps import Warp
from warploom.golden_model.inputs import Attempts
from warploom.golden_model.operands.port import OperandStore
from warploom.golden_model.trace import NONE, Trace
from warploom.golden_model.words import ALL_LANES

OFFSET_SLOT = 2
"""The operand of an attempt that is the offset of a load."""


class AffineDecisions:
    """Only a warp's own instructions make its registers compact or generic, so the next instruction is planned when the
    warp comes to it. Like a CONTROL instruction, an attempt needs no port; the warp then waits for the outcome. `unit`
    has the tags, and the store of `operands` the address slots; `checker` checks accepted attempts.
    """

    def __init__(  # noqa: PLR0917 - its sources
        self, config: SmConfig, trace: Trace, statics: Sequence[Static], unit: AffineUnit, operands: OperandStore,
        checker: Checker | None,
    ) -> None:
        self.counts = AffineCounts()
        self._config, self._trace, self._instructions = config, trace, Instructions(trace, statics)
        self._unit, self._registers, self._operands, self._checker = unit, unit.registers, operands, checker
        self._waiting: dict[int, Warp] = {}  # for an outcome, by slot
        self._outcomes = unit.outcomes
        self._planner = Planner(config, trace, statics)
        self._plans: list[Plan | None] = [None] * config.warps  # of each slot's next instruction, if it has lanes
        self._addressing = 0  # slots whose next instruction goes to the address slot
        self._ports = slots_of_ports(config)
        self._sets = {kind: config.collector_set(kind) for kind in Pipe}

    # ------------------------------------------------------------------ wires

    def free_entries(self, free: Sequence[int]) -> Sequence[int]:
        """See `Decisions`."""
        if self._config.has_address_slot:
            addressing = self._addressing
            ready = sum(addressing & mask for port, mask in enumerate(self._ports)
                        if self._operands.address_ready >> port & 1)
            return (free[0] & ~addressing | ready, *free[1:])
        return free

    @property
    def apart(self) -> int:
        """See `Decisions`."""
        return self._addressing if self._config.has_address_slot else 0

    def attempts(self, picked: Sequence[Warp]) -> Attempts:
        """By set: the fields of the attempts among the picked instructions."""
        self._outcomes = self._unit.outcomes
        sets: list[Mapping[str, int] | None] = [None] * self._config.schedulers
        for warp in picked:
            plan = self._plans[warp.slot]
            if plan is not None and plan.way is Way.ATTEMPT:
                sets[warp.slot % len(sets)] = self._attempt(warp, plan)
        return tuple(sets)

    def _attempt(self, warp: Warp, plan: Plan) -> dict[str, int]:
        fields = self._instructions.fields(warp)
        fields |= {"writes_predicate": int(warp.next.hazards.writes_predicate), "step": 0}
        if plan.special is not None:
            fields |= {"imm": plan.special.base, "step": plan.special.stride}
        if warp.next.op is Op.LD:
            fields["imm_slot"] = OFFSET_SLOT
        return fields

    def fields(self, warp: Warp) -> dict[str, int]:
        """See `Decisions`, here and below."""
        if self._planned(warp).way is Way.EXPANSION:
            move = expansion(warp.next.fields["dst"])
            return {**move.fields, "warp": warp.slot, "lanes": ALL_LANES, "full": 1, "pred": 0,
                    "first": int(not warp.entered), "aside": int(self._config.has_hints)}
        return self._instructions.fields(warp) | {"aside": 0}

    def flight(self, warp: Warp, tag: int, cycle: int) -> Flight:
        plan = self._planned(warp)
        if plan.way is Way.EXPANSION:
            assert plan.destination is not None
            move, word = expansion(warp.next.fields["dst"]), plan.destination.word()
            return Flight(move, warp, tag, ALL_LANES, 0, NONE, NONE, cycle, word)
        flight = self._instructions.flight(warp, tag, cycle)
        if warp.next.op is Op.LD and self._config.affine.has_memory:
            flight.vector = is_vector(warp.next, plan.slots, Space(self._trace.spaces[flight.address]))
            self.counts.vector_requests += flight.vector
        return flight

    def _planned(self, warp: Warp) -> Plan:
        """The plan for the warp's next instruction, which is not CONTROL."""
        plan = self._plans[warp.slot]
        assert plan is not None
        return plan

    # ------------------------------------------------------------------ the end of a cycle

    def demand(self, warp: Warp, static: Static) -> int:
        """See `Decisions`, here and below."""
        if static.control or not warp.walk.lanes:
            self._plans[warp.slot] = None
            self._addressing &= ~(1 << warp.slot)
            return NO_PORT
        self.counts.compares += static.op in COMPARISONS
        plan = self._plan(warp, static, refused=False)
        self.counts.suppressed += plan.suppressed
        return self._demand(static, plan)

    def issued(self, warp: Warp) -> Issued:
        plan, static = self._plans[warp.slot], warp.next
        if plan is None:
            return Issued()
        if plan.way is Way.ATTEMPT:
            self.counts.attempts += 1
            self._waiting[warp.slot] = warp
            return Issued(waits=True)
        if plan.way is Way.EXPANSION:
            self.counts.expansions += 1
            self._count_entry(0, 1)
            again = self._demand(static, self._plan(warp, static, refused=False))
            return Issued(expansion(static.fields["dst"]), again=again)
        self._count_entry(len(plan.generic), plan.compact)
        self._count_load(static, affine=not plan.generic)
        return Issued(static, plan.generic)

    def answers(self) -> Sequence[tuple[Warp, int | None]]:
        outcomes = [outcome for outcome in self._outcomes if outcome is not None]
        warps = [self._waiting.pop(outcome["warp"]) for outcome in outcomes]
        return [(warp, self._outcome(warp, outcome)) for warp, outcome in zip(warps, outcomes, strict=True)]

    def _outcome(self, warp: Warp, outcome: Mapping[str, int]) -> int | None:
        """What became of the warp's attempt, whose result has been written: `None` if it is accepted, otherwise what
        the instruction demands of the datapath now."""
        plan, static = self._planned(warp), warp.next
        if not outcome["accepted"]:
            self.counts.refused += 1
            return self._demand(static, self._plan(warp, static, refused=True))
        counts, fields = self.counts, self._attempt(warp, plan)
        counts.accepted += 1
        counts.compact_reads += plan.compact
        counts.compact_writes += fields["writes"]
        counts.resolved += static.op in COMPARISONS
        self._count_load(static, affine=True)
        if self._checker is not None:
            value = self._registers.read(warp.slot, fields["dst"]) if fields["writes"] else None
            flight = self._instructions.flight(warp, 0, 0)
            self._checker.accepted(flight, fields, plan.slots, value, outcome["pred"])
        return None

    def _plan(self, warp: Warp, static: Static, *, refused: bool) -> Plan:
        """Plan the warp's next instruction, `static`."""
        plan = self._planner.plan(self._registers, warp, static, refused=refused)
        self._plans[warp.slot] = plan
        bit = 1 << warp.slot
        self._addressing &= ~bit
        if static.op is Op.LD and not plan.generic and plan.way is Way.DATAPATH:
            self._addressing |= bit
        return plan

    def _demand(self, static: Static, plan: Plan) -> int:
        """What an instruction demands of the datapath: an expansion, a MOV, needs a collector for SP."""
        if plan.way is Way.ATTEMPT:
            return NO_PORT
        if plan.way is Way.EXPANSION:
            return demand_of(self._sets[Pipe.SP], 0)
        return demand_of(self._sets[static.instruction.pipe], len(plan.generic))

    def _count_load(self, static: Static, *, affine: bool) -> None:
        """An instruction goes on, whose address, if it is a load, takes no read of the register file if `affine`."""
        if static.op is Op.LD:
            self.counts.loads += 1
            self.counts.affine_loads += affine

    def _count_entry(self, generic: int, compact: int) -> None:
        """An instruction that reads this number of different registers enters the datapath."""
        self.counts.operands[generic] += 1
        self.counts.compact_reads += compact


@cache
def expansion(register: int) -> Static:
    """The MOV that writes the value of a compact register to the register file."""
    move = Instruction(op=Op.MOV, dst=register, src=(register, RZ, RZ), to_collector=False)
    return Static(move, lambda offset: 0)
