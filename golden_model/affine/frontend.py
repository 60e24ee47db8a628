"""`AffineFrontEnd`: issue where instructions may execute in the affine unit (docs/contract/front_end.md)."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from golden_model.affine.counts import AffineCounts
from golden_model.affine.plan import Plan, Planner, Way, is_vector
from golden_model.affine.register_file import AffineRegisterFile
from golden_model.affine.rules import COMPARISONS
from golden_model.blocks import Flight, Warp
from golden_model.check import Checker
from golden_model.decode import Static
from golden_model.frontend import NO_PORT, FrontEnd, Stall
from golden_model.inputs import Attempts
from golden_model.operands.port import OperandStore
from golden_model.trace import NONE, Trace
from golden_model.words import ALL_LANES
from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.modifiers import Space

OFFSET_SLOT = 2
"""The operand of an attempt that is the offset of a load."""


class AffineFrontEnd(FrontEnd):
    """A warp's registers become compact or generic through its own instructions only, so what becomes of the next one
    is planned when the warp comes to it. An attempt needs no port, like a CONTROL instruction; the warp then waits for
    the outcome. `registers` and `operands`, to be set before the first cycle, have the tags and the address slot.
    """

    registers: AffineRegisterFile
    operands: OperandStore

    def __init__(self, config: SmConfig, trace: Trace, statics: list[Static]) -> None:
        super().__init__(config, trace, statics)
        self.counts = AffineCounts()
        self._planner = Planner(config, trace, statics)
        self._plans: list[Plan | None] = [None] * config.warps  # of each slot's next instruction, if it does something
        self._config = config
        self._addressing = 0  # slots whose next instruction goes to the address slot

    # ------------------------------------------------------------------ wires

    def select(self, cycle: int, port: bool, roomy: Sequence[int]) -> list[Warp]:
        if self._config.has_address_slot:
            address = self._addressing if self.operands.address_ready else 0
            roomy = (roomy[0] & ~self._addressing | address, *roomy[1:])
        return super().select(cycle, port, roomy)

    def attempts(self, picked: Sequence[Warp]) -> Attempts:
        """By set: the fields of the attempts among what was picked."""
        sets: list[Mapping[str, Any] | None] = [None] * len(self.schedulers)
        for warp in picked:
            plan = self._plans[warp.slot]
            if plan is not None and plan.way is Way.ATTEMPT:
                sets[warp.slot % len(sets)] = self._attempt(warp, plan)
        return tuple(sets)

    def _attempt(self, warp: Warp, plan: Plan) -> dict[str, Any]:
        fields = super().fields(warp)
        fields |= {"writes_predicate": int(warp.next.hazards.writes_predicate), "step": 0}
        if plan.special is not None:
            fields |= {"imm": plan.special.base, "step": plan.special.stride}
        if warp.next.op is Op.LD:
            fields["imm_slot"] = OFFSET_SLOT
        return fields

    def fields(self, warp: Warp) -> dict[str, Any]:
        if self._planned(warp).way is Way.EXPANSION:
            move = expansion(warp.next.fields["dst"])
            return {**move.fields, "warp": warp.slot, "lanes": ALL_LANES, "full": 1, "pred": 0,
                    "first": int(not warp.entered), "aside": int(self._config.bypass.has_hints)}
        return super().fields(warp) | {"aside": 0}

    def flight(self, warp: Warp, tag: int, cycle: int) -> Flight:
        plan = self._planned(warp)
        if plan.way is Way.EXPANSION:
            assert plan.destination is not None
            move, word = expansion(warp.next.fields["dst"]), plan.destination.word()
            return Flight(move, warp, tag, ALL_LANES, 0, NONE, NONE, cycle, word)
        flight = super().flight(warp, tag, cycle)
        if warp.next.op is Op.LD and self._config.affine.has_memory:
            flight.vector = is_vector(warp.next, plan.slots, Space(self._trace.spaces[flight.address]))
            self.counts.vector_requests += flight.vector
        return flight

    def _planned(self, warp: Warp) -> Plan:
        """What becomes of the warp's next instruction, which is not CONTROL."""
        plan = self._plans[warp.slot]
        assert plan is not None
        return plan

    # ------------------------------------------------------------------ the end of a cycle

    def issued(self, warp: Warp) -> None:
        plan = self._plans[warp.slot]
        if plan is None:
            super().issued(warp)
        elif plan.way is Way.ATTEMPT:
            self.counts.attempts += 1
            warp.blocked = 0
            self._enter(warp, Stall.SCOREBOARD)
        elif plan.way is Way.EXPANSION:
            self.counts.expansions += 1
            self._count_entry(0, 1)
            self._enters(warp, expansion(warp.next.fields["dst"]), ())
            self._plan(warp, warp.next, refused=False)
        else:
            self._count_datapath(warp.next, plan)
            super().issued(warp)

    def _enters(self, warp: Warp, static: Static, sources: Sequence[int]) -> None:
        plan = self._planned(warp)
        super()._enters(warp, static, plan.generic if plan.way is Way.DATAPATH else sources)

    def outcome(self, outcome: Mapping[str, int], checker: Checker | None) -> None:
        """What became of an attempt, whose result has been written."""
        warp = self.warps[outcome["warp"]]
        plan, static = self._planned(warp), warp.next
        if not outcome["accepted"]:
            self.counts.refused += 1
            self._plan(warp, static, refused=True)
            return
        counts, fields = self.counts, self._attempt(warp, plan)
        counts.accepted += 1
        counts.compact_reads += plan.compact
        counts.compact_writes += fields["writes"]
        counts.resolved += static.op in COMPARISONS
        self._count_load(static, affine=True)
        if checker is not None:
            value = self.registers.read(warp.slot, fields["dst"]) if fields["writes"] else None
            flight = super().flight(warp, 0, 0)
            checker.accepted(flight, fields, plan.slots, value, outcome["pred"])
        self._go_on(warp)

    def _look(self, warp: Warp, static: Static) -> None:
        if static.control or not warp.lanes[warp.index]:
            self._plans[warp.slot] = None
            self._addressing &= ~(1 << warp.slot)
            super()._look(warp, static)
            return
        self.counts.compares += static.op in COMPARISONS
        plan = self._plan(warp, static, refused=False)
        self.counts.suppressed += plan.suppressed

    def _plan(self, warp: Warp, static: Static, *, refused: bool) -> Plan:
        """What becomes of the warp's next instruction, `static`."""
        plan = self._planner.plan(self.registers, warp, static, refused=refused)
        self._plans[warp.slot] = plan
        bit = 1 << warp.slot
        self._addressing &= ~bit
        if static.op is Op.LD and not plan.generic and plan.way is Way.DATAPATH:
            self._addressing |= bit
        demand = {Way.ATTEMPT: NO_PORT, Way.EXPANSION: 0, Way.DATAPATH: len(plan.generic)}[plan.way]
        self._await(warp, static, demand)
        return plan

    def _count_datapath(self, static: Static, plan: Plan) -> None:
        self._count_entry(len(plan.generic), plan.compact)
        self._count_load(static, affine=not plan.generic)

    def _count_load(self, static: Static, *, affine: bool) -> None:
        """An instruction goes on, whose address, if it is a load, takes no read of the register file if `affine`."""
        if static.op is Op.LD:
            self.counts.loads += 1
            self.counts.affine_loads += affine

    def _count_entry(self, generic: int, compact: int) -> None:
        """An instruction enters the datapath, which reads so many different registers."""
        self.counts.operands[generic] += 1
        self.counts.compact_reads += compact


@cache
def expansion(register: int) -> Static:
    """The MOV that writes the value of a compact register to the register file."""
    move = Instruction(op=Op.MOV, dst=register, src=(register, RZ, RZ), to_collector=False)
    return Static(move, lambda offset: 0)
