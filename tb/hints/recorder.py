"""What happens in a run of the golden model, for the hint unit of each scheduler: the inputs of each cycle, and what
the unit has to show (docs/contract/hints.md, *The hint unit*)."""

import random
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import NO_RECONVERGENCE, PT, RZ, Instruction, Op, Pipe
from warploom.arch.order_hints import FORMAT_1_BITS, Hint
from warploom.arch.program import Program
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.stalls import READY, Stall
from warploom.golden_model.front_end.warps import Warp
from warploom.golden_model.hints.order import HintOrder
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace

_LEAVES = (Op.BRA, Op.EXIT, Op.TRAP)


class Step(NamedTuple):
    """A cycle of a hint unit: its inputs by port, the fields of outputs that are specified, and the values of
    `warploom.golden_model.hints.order.OBSERVED` after the cycle, of each warp that has any."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    state: Mapping[int, tuple[int, ...]]


def moved(step: Step, by: int) -> Step:
    """The same for a program that stands so many instructions further on."""
    inputs, outputs = dict(step.inputs), dict(step.outputs)
    for ports, port, names in ((inputs, "issue", ("pc", "to")), (inputs, "following", ("reconverge",)),
                               (outputs, "next", ("pc",))):
        if port in ports:
            ports[port] = {**ports[port], **{name: _moved(ports[port][name], by) for name in names}}
    if outputs["ahead__valid"]:
        outputs["ahead__payload"] += by
    state = {}
    for warp, (away, waiting, base, active, reconverge, entries) in step.state.items():
        at_stall_point = away or waiting
        state[warp] = (away, waiting, base + by if at_stall_point or entries else 0, active,
                       _moved(reconverge, by) if at_stall_point else 0, entries)
    return Step(inputs, outputs, state)


def _moved(pc: int, by: int) -> int:
    return pc if pc == NO_RECONVERGENCE else pc + by


class _Unit:
    """The cycle of one unit that is being recorded."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.ahead = -1
        """The first instruction of the group of a stall point to which a warp has come."""
        self.begin()

    def begin(self) -> None:
        """A new cycle."""
        self.inputs: dict[str, Any] = {}
        self.outputs: dict[str, Any] = {"ahead__valid": self.ahead >= 0}
        if self.ahead >= 0:
            self.outputs["ahead__payload"] = self.ahead
        self.ahead = -1
        self.returned = -1  # the slot of a warp whose hint mode ended as it issued


class Recorder:
    """The order of a front end, recorded: a plug-in around `order`. `units` has the steps of each scheduler's unit.
    Inputs that do not matter are random."""

    def __init__(self, order: HintOrder, program: Program, statics: Sequence[Static], *, schedulers: int, pipes: int,
                 rng: random.Random) -> None:
        self._order, self._statics, self._rng = order, statics, rng
        self._code, self._hints = program.instructions, dict(program.order_hints)
        self._schedulers, self._pipes = schedulers, pipes
        self._units = [_Unit() for _ in range(schedulers)]
        self._awaited: dict[int, set[int]] = {}  # by slot, registers of entries that are not ready

    @property
    def steps(self) -> list[list[Step]]:
        """The steps of each scheduler's unit."""
        return [unit.steps for unit in self._units]

    @property
    def counts(self) -> Any:
        """See `Order`, here and below."""
        return self._order.counts

    def first(self, warp: Warp) -> Static:
        return self._order.first(warp)

    def may_turn(self, states: Sequence[int | None]) -> bool:
        return self._order.may_turn(states)

    def following(self, warp: Warp) -> Static | None:
        order, unit = self._order, self._units[warp.slot % self._schedulers]
        detour, walk = order.detours[warp.slot], warp.walk
        assert "issue" not in unit.inputs, "two instructions of one scheduler issue"
        pc, lanes, hinted = walk.pc, walk.lanes, detour.distance != 0
        instruction, is_copy = self._code[pc], detour.copies
        stack = deepcopy(detour.stack)
        stack.step(instruction, lanes)
        named = warp.next.instruction if is_copy else instruction
        is_branch = instruction.op is Op.BRA
        to = stack.pc if not hinted else instruction.imm if is_branch and lanes else pc + 1
        static = order.following(warp)
        unit.inputs |= {
            "issue": {
                "warps": 1 << warp.slot // self._schedulers, "pc": pc, "to": to, "branch": is_branch,
                "lanes": lanes if hinted else self._rng.getrandbits(LANES), "hint": self._hints.get(pc, 0),
                "dst": instruction.dst},
            "operands": _operands(named, is_copy=is_copy),
        }
        if hinted and detour.entries and detour.entries[-1].writes:
            self._awaited[warp.slot].add(detour.entries[-1].renamed)
        if hinted and not detour.distance:
            unit.returned = warp.slot
        elif static is not None:
            self._comes(unit, warp, static, hinted=hinted)
        return static

    def _comes(self, unit: _Unit, warp: Warp, static: Static, *, hinted: bool) -> None:
        """The warp comes to its next instruction."""
        detour, pc = self._order.detours[warp.slot], warp.walk.pc
        instruction = self._code[pc]
        hint = self._hints.get(pc, 0) & (1 << FORMAT_1_BITS) - 1
        unit.inputs["following"] = {
            "hint": hint, "branch": instruction.op is Op.BRA, "active": detour.stack.active,
            "reconverge": detour.stack.reconverge,
            **{f"src{slot}": register for slot, register in enumerate(instruction.src)}}
        unit.outputs["next"] = {"pc": pc, "copy": int(detour.copies)}
        if detour.copies:
            unit.outputs["next"] |= {"dst": static.instruction.dst, "renamed": static.instruction.src[0]}
        if hinted and instruction.pipe is not Pipe.CONTROL:
            unit.outputs["renamed"] = {str(slot): register for slot, register in enumerate(static.instruction.src)
                                       if slot != instruction.imm_slot}
        if warp.slot in self._order.arrived:
            unit.ahead = pc + Hint.decode(hint).target

    def turns(self, scoreboard: Scoreboard, states: Sequence[int | None]) -> Iterator[tuple[Warp, Static]]:
        before = list(states)
        away = {slot: scoreboard.awaits_memory(slot, self._statics[self._order.detours[slot].base].needs)
                for slot in self._order.away}
        waiting = {slot: before[slot] == Stall.MEMORY for slot in self._order.waiting}
        turned = []
        for warp, static in self._order.turns(scoreboard, states):
            turned.append(warp.slot)
            yield warp, static
        for number, unit in enumerate(self._units):
            slots = range(number, len(states), self._schedulers)
            memory, other = (self._rng.getrandbits(len(slots)) for _ in range(2))
            ready = sum((before[slot] == READY) << place for place, slot in enumerate(slots))
            enters = returns = 0
            for place, slot in enumerate(slots):
                if slot in away or slot in waiting:
                    memory = _with(memory, place, away.get(slot, waiting.get(slot, False)))
                if slot in turned or slot == unit.returned:
                    other = _with(other, place, states[slot] == READY)
                    is_in = self._order.detours[slot].distance != 0
                    enters, returns = enters | is_in << place, returns | (not is_in) << place
            unit.inputs |= {"ready": ready, "other_ready": other, "memory": memory}
            unit.outputs |= {"enters": enters, "returns": returns}
            self._end(unit, slots, scoreboard)

    def _end(self, unit: _Unit, slots: Sequence[int], scoreboard: Scoreboard) -> None:
        """The results that are done, and the state after the cycle."""
        done = [(place, register) for place, slot in enumerate(slots) for register in self._awaited.get(slot, ())
                if scoreboard.permits(slot, 1 << register)]
        assert len(done) <= self._pipes
        state = {}
        for place, slot in enumerate(slots):
            detour = self._order.detours.get(slot)
            self._awaited[slot] = {entry.renamed for entry in (detour.entries if detour else ())
                                   if entry.writes and not scoreboard.permits(slot, 1 << entry.renamed)}
            values = self._order.observe(slot, scoreboard)
            if any(values):
                state[place] = values
        for port in range(self._pipes):
            place = self._rng.randrange(len(slots))
            others = [register for register in range(RZ) if register not in self._awaited[slots[place]]]
            where, register = done[port] if port < len(done) else (place, self._rng.choice(others))
            unit.inputs |= {f"written__{port}__valid": 1, f"written__{port}__payload": {
                "warp": where, "register": register}}
        unit.steps.append(Step(unit.inputs, unit.outputs, state))
        unit.begin()


def _with(bits: int, place: int, value: bool) -> int:
    """The bits with another value in one place."""
    return bits & ~(1 << place) | value << place


def _operands(instruction: Instruction, *, is_copy: bool) -> dict[str, int]:
    """What an instruction names, for the assertions."""
    slots = [slot for slot, register in enumerate(instruction.src)
             if register in instruction.sources and slot != instruction.imm_slot]
    return {
        "reads": sum(1 << slot for slot in slots), "dst": instruction.dst, "copy": is_copy,
        **{f"src{slot}": instruction.src[slot] for slot in slots},
        "predicates_read": sum(1 << predicate for predicate in instruction.predicates_read),
        "predicates_written": 1 << instruction.pdst if instruction.pdst != PT else 0,
        "leaves": instruction.op in _LEAVES,
    }


def record(config: SmConfig, trace: Trace, rng: random.Random) -> list[list[Step]]:
    """The steps of each scheduler's unit while an SM executes a trace whose program has hints. Cycles in which nothing
    can happen are left out."""
    sm = Sm(config, trace)
    order = sm.front_end.order
    assert isinstance(order, HintOrder)
    sm.front_end.order = recorder = Recorder(
        order, trace.program, sm.statics, schedulers=config.schedulers, pipes=len(config.pipes), rng=rng)
    while not sm.finished:
        sm.step()
        if not sm.finished:
            sm.skip()
    return recorder.steps
