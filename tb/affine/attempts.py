"""Attempts and look-ups of several warps, such as a front end may send to one set of the affine unit."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from warploom.arch.compact import ATTEMPT_CYCLES, UNIFORM_ANSWER_CYCLES, coming_cycles
from warploom.arch.isa import NO_SLOT, Op
from warploom.arch.layout import resident_warps
from warploom.golden_model.affine.rules import COMPARISONS, UNIFORM_OPS
from warploom.golden_model.compact import Compact
from warploom.golden_model.words import ALL_LANES
from warploom.tb.affine.operands import MASK, Trial, attempted_trial, uniform_answer
from warploom.tb.bench import Ports, Stimulus
from warploom.tb.lane_driver import encoded, operand

Fields = dict[str, int]
Action = tuple[str, Fields]
"""``attempt`` or ``lookup``, and its fields."""

SLOTS = range(3)

ROWLESS = 6
"""Registers of a thread without a row, if there are such."""


class Waits:
    """When the attempts of a warp have their outcomes, and its registers can be used."""

    def __init__(self) -> None:
        self._answered = 0  # the first cycle after the last outcome
        self._ready: dict[int, int] = {}  # by register, of attempts

    def until(self, kind: str, fields: Fields) -> int:
        """The first cycle in which an action may follow."""
        named = [fields[f"src{slot}"] for slot in SLOTS if fields.get("reads", 0) >> slot & 1]
        named += [fields["dst"]] if fields["writes"] else []
        if kind == "lookup" or (fields["op"] in UNIFORM_OPS and any(one in self._ready for one in named)):
            return self._answered
        return max((self._ready.get(register, 0) for register in named), default=0)

    def went(self, kind: str, fields: Fields, cycle: int) -> None:
        """The action is on its port in this cycle."""
        if cycle >= self._answered:
            self._ready.clear()
        if kind == "attempt":
            self._answered = cycle + ATTEMPT_CYCLES + 1
            if fields["writes"]:
                self._ready[fields["dst"]] = cycle + coming_cycles(fields["op"])


def traffic(ports: Ports, rng: random.Random, number: int, registers: int, cycles: int) -> Iterator[Stimulus]:
    """The warps of set `number` in turn, each as soon as it may go on; fields that are not valid are random. Warps do
    not go back to squashed attempts."""
    warps = range(number, resident_warps(ports.config, registers), ports.config.schedulers)
    rowless = range(registers, registers + ROWLESS) if ports.config.has_unallocated else ()
    scripts = {warp: script(rng, warp, registers, rowless) for warp in warps}
    waits = {warp: Waits() for warp in warps}
    coming = {warp: next(actions) for warp, actions in scripts.items()}
    answers: dict[int, tuple[int, int]] = {}
    for cycle in range(cycles):
        if ports.peek("uniform__valid"):
            operation = ports.codecs["uniform__payload"].unpack(ports.peek("uniform__payload"))
            answers[cycle + UNIFORM_ANSWER_CYCLES] = uniform_answer(**operation)
        value, holds = answers.get(cycle, (rng.getrandbits(32), rng.getrandbits(1)))
        stimulus: dict[str, Any] = {
            "registers": registers, "uniform_result__valid": cycle in answers,
            "uniform_result__payload": {"value": value, "holds": holds},
            **{f"{kind}__payload": rng.getrandbits(ports.codecs[f"{kind}__payload"].width)
               for kind in ("attempt", "lookup")},
        }
        ready = [warp for warp in warps if waits[warp].until(*coming[warp]) <= cycle]
        if cycle and ready and rng.random() < 0.95:
            warp = rng.choice(ready)
            kind, fields = coming[warp]
            waits[warp].went(kind, fields, cycle)
            coming[warp] = next(scripts[warp])
            stimulus |= {f"{kind}__valid": 1, f"{kind}__payload": fields}
        yield stimulus


def script(rng: random.Random, warp: int, registers: int, rowless: Sequence[int]) -> Iterator[Action]:
    """Operands for a trial, the trial, often a copy of its result and a look-up, repeatedly. Look-ups also name
    registers without a row, and some trials read one instead of an operand. An attempt that writes nothing may name an
    operand as its destination."""
    pool = [*range(min(registers, 6)), registers - 1]
    named = [*pool, *rowless]
    while True:
        trial, sources, dst = attempted_trial(rng), rng.sample(pool, len(SLOTS)), rng.choice(pool)
        fields = _fields(rng, trial, sources) | {"warp": warp, "dst": dst}
        read = [slot for slot in SLOTS if fields["reads"] >> slot & 1]
        for slot in read:
            yield from _load(warp, sources[slot], trial.slots[slot])
        if read and rng.random() < 0.03:
            yield "lookup", _lookup(rng, warp, named) | {"writes": 1, "dst": sources[rng.choice(read)]}
        if read and rng.random() < 0.1:
            _, move = next(_load(warp, sources[rng.choice(read)], Compact(rng.getrandbits(32))))
            yield "attempt", move | {"writes": 0}
        if rowless and read and rng.random() < 0.1:
            fields |= {f"src{rng.choice(read)}": rng.choice(rowless)}
        yield "attempt", fields
        if rng.random() < 0.5:
            yield "attempt", {"warp": warp, "dst": dst, "writes": 1, "op": Op.MOV, "reads": 1, "src0": dst}
        if rng.random() < 0.7:
            yield "lookup", _lookup(rng, warp, named) | {"src1": dst}


def _fields(rng: random.Random, trial: Trial, sources: list[int]) -> Fields:
    """An attempt of a trial: one uniform operand may be a constant, zeros may be absent."""
    op, lanes = trial.op, rng.choice((ALL_LANES, ALL_LANES, 1 << rng.randrange(32), rng.getrandbits(32) or 1))
    constants = [slot for slot, value in enumerate(trial.slots) if not value.stride and rng.random() < 0.5]
    imm_slot = rng.choice(constants) if constants else NO_SLOT
    absent = [slot for slot in constants if slot == imm_slot or not trial.slots[slot].base]
    reads = sum(1 << slot for slot in range(len(trial.slots)) if slot not in absent)
    agreed = rng.choice((0, ALL_LANES)) ^ (rng.getrandbits(32) & ~lanes)
    compares = op in COMPARISONS
    return {
        "op": op, "modifiers": encoded(op, trial.modifiers), "reads": reads, "imm_slot": imm_slot,
        "imm": trial.slots[imm_slot].base if imm_slot != NO_SLOT else operand(rng), "step": rng.getrandbits(1),
        **{f"src{slot}": register for slot, register in enumerate(sources)}, "lanes": lanes,
        "pred": agreed if rng.random() < 0.9 else rng.getrandbits(32),
        "writes": not compares and rng.random() < 0.95,
        "writes_predicate": compares or (op in (Op.IADD, Op.ISUB, Op.IMAD) and rng.random() < 0.4),
    }


def _load(warp: int, register: int, value: Compact) -> Iterator[Action]:
    """Attempts that are always accepted, and write a value to a register."""
    base = {"warp": warp, "dst": register, "writes": 1, "lanes": ALL_LANES, "imm_slot": 1, "src0": register}
    if not value.stride:
        yield "attempt", base | {"op": Op.MOV, "imm": value.base, "imm_slot": 0}
    elif value.stride == 1:
        yield "attempt", base | {"op": Op.S2R, "imm": value.base, "step": 1}
    else:
        yield "attempt", base | {"op": Op.S2R, "imm": 0, "step": 1}
        yield "attempt", base | {"op": Op.IMUL, "imm": value.stride & MASK, "reads": 1}
        yield "attempt", base | {"op": Op.IADD, "imm": value.base, "reads": 1}


def _lookup(rng: random.Random, warp: int, pool: list[int]) -> Fields:
    """An instruction for the datapath."""
    named = {name: rng.choice(pool) for name in ("src0", "src1", "src2", "dst")}
    return {"warp": warp, "reads": rng.choice((7, 7, rng.randrange(8))), "writes": rng.random() < 0.15, **named}
