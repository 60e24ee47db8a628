"""Instructions for the affine unit of the control processor, at the limits of what it accepts, each as long as its
result may take."""

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

from warploom.arch.compact import LINEAR_OPS
from warploom.arch.encoding import encode_modifiers
from warploom.arch.fg_simt.code import CARRYING
from warploom.arch.fg_simt.sizes import AFFINE_CYCLES, REGISTERS
from warploom.arch.isa import INTEGER_OPS, PT, Instruction, Op
from warploom.golden_model.affine.rules import COMPARISONS
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.micro import (
    FALSE,
    TRUE,
    ZERO,
    Operand,
    Position,
    Predicate,
    Register,
)
from warploom.golden_model.fg_simt.micro_bits import operand_fields, operand_of
from warploom.tb.affine.operands import Trial, attempted_trial
from warploom.tb.bench import Stimulus
from warploom.tb.lane_driver import encoded

ADDS = encode_modifiers(Instruction(op=Op.IADD))
POOL = (*range(6), REGISTERS - 1)
SLOTS = range(3)


def cycles(op: int, pdst: int) -> int:
    """How many cycles an instruction stays at most."""
    return 1 if op in (Op.LD, Op.PLOP3) or (op in LINEAR_OPS and pdst == PT) else AFFINE_CYCLES


def traffic(rng: random.Random, count: int) -> Iterator[Stimulus]:
    """So many instructions; most registers are written before they are read. What is used of an instruction a cycle
    before it comes is on `ahead`; at other times it is that of another one."""
    instructions = (given for _ in range(count) for given in _trial(rng))
    last: Stimulus = {}
    for given in islice(instructions, count):
        ahead = _ahead(rng, given)
        yield {**last, "ahead": ahead, "advance": 1}
        if last and rng.random() < 0.1:
            yield {**_without_ahead(given), "expand": 1, "ahead": ahead}
        for _ in range(cycles(given["op"], given["pdst"]) - 1):
            yield {**_without_ahead(given), "ahead": _ahead(rng, given)}
        last = _without_ahead(given) | {name: given[name] for name in ACTS}
    yield last


ACTS = ("write", "expand", "reset")


def _without_ahead(given: Stimulus) -> dict[str, Any]:
    """The instruction in a cycle in which it stays."""
    return {name: value for name, value in given.items() if name not in (*ACTS, "op", "modifiers")}


def _ahead(rng: random.Random, given: Stimulus) -> dict[str, Any]:
    """Operation and modifiers, registers and predicates."""
    operands = [operand_of(given["operands"][str(slot)]) for slot in SLOTS]
    registers = [one.number if isinstance(one, Register) else rng.randrange(REGISTERS) for one in operands]
    registers.append(given["dst"] if given["writes"] else rng.randrange(REGISTERS))
    predicates = (given["guard"]["number"], given["pred"]["number"], given["pdst"])
    return {"op": given["op"], "modifiers": given["modifiers"],
            "registers": {str(number): register for number, register in enumerate(registers)},
            "predicates": {str(number): predicate for number, predicate in enumerate(predicates)}}


def _trial(rng: random.Random) -> Iterator[Stimulus]:
    """An instruction, behind others that write some of its operands."""
    kind = rng.random()
    if kind < 0.08:
        yield _logic(rng)
    elif kind < 0.12:
        yield _load(rng)
    elif kind < 0.2:
        yield _set_predicate(rng)
    else:
        trial = attempted_trial(rng)
        while trial.op not in INTEGER_OPS and trial.op is not Op.S2R and rng.random() < 0.9:
            trial = attempted_trial(rng)
        operands: list[Operand] = []
        for value in (*trial.slots, *[ZERO] * len(SLOTS))[: len(SLOTS)]:
            register = rng.choice(POOL)
            if rng.random() < 0.15:
                yield _acts(rng, _write(register, value), often="write")
                operands.append(Register(register))
            else:
                operands.append(value if rng.random() < 0.97 else Register(register))
        yield _attempt(rng, trial, operands)


def _attempt(rng: random.Random, trial: Trial, operands: list[Operand]) -> Stimulus:
    op = trial.op
    if op is Op.S2R:
        operands = [rng.choice((Compact(rng.getrandbits(32), 1), Compact(rng.getrandbits(32)),
                                Position(rng.randrange(3)))), ZERO, ZERO]
    compares = op in COMPARISONS
    pred = rng.choice((TRUE, FALSE, Predicate(rng.randrange(PT), bool(rng.getrandbits(1)))))
    return _acts(rng, _instruction(
        op, encoded(op, trial.modifiers), operands, pred=pred, dst=None if compares else rng.choice((None, *POOL)),
        pdst=rng.randrange(PT) if compares or (op in CARRYING and rng.random() < 0.4) else PT))


def _instruction(
    op: Op, modifiers: int, operands: list[Operand], *, pred: Predicate = FALSE, dst: int | None = None, pdst: int = PT
) -> dict[str, Any]:
    return {
        "op": op, "modifiers": modifiers,
        "operands": {str(slot): operand_fields(operand) for slot, operand in enumerate(operands)},
        "pred": _fields(pred), "writes": dst is not None, "dst": dst or 0, "pdst": pdst,
    }


def _fields(predicate: Predicate) -> dict[str, int]:
    return {"number": predicate.number, "inverted": int(predicate.inverted)}


def _acts(rng: random.Random, given: dict[str, Any], often: str = "") -> Stimulus:
    """With a guard, and with what happens at the end of its last cycle."""
    act = often if often and rng.random() < 0.95 else rng.choice(("write", "write", "write", "expand", "none"))
    return given | {"write": act == "write", "expand": act == "expand", "reset": rng.random() < 0.003,
                    "guard": _fields(Predicate(rng.randrange(PT + 1), bool(rng.getrandbits(1))))}


def _write(register: int, value: Compact) -> dict[str, Any]:
    """A register becomes compact; the unit takes any stride of a constant."""
    return _instruction(Op.MOV, 0, [value, ZERO, ZERO], pred=TRUE, dst=register)


def _set_predicate(rng: random.Random) -> Stimulus:
    """A predicate becomes uniform, by a carry."""
    top = rng.choice((0, 0xFFFFFFFF))
    return _acts(rng, _instruction(Op.IADD, ADDS, [Compact(top), Compact(1), ZERO], pdst=rng.randrange(PT)),
                 often="write")


def _logic(rng: random.Random) -> Stimulus:
    """A PLOP3; with luck all of its predicates are uniform."""
    operands: list[Operand] = [Predicate(rng.choice((PT, rng.randrange(PT), rng.randrange(PT))), False) for _ in SLOTS]
    i = Instruction(op=Op.PLOP3, lut=rng.getrandbits(8))
    return _acts(rng, _instruction(Op.PLOP3, encode_modifiers(i), operands, pred=TRUE, pdst=rng.randrange(PT)))


def _load(rng: random.Random) -> Stimulus:
    """An LD, maybe a uniform one."""
    loaded = rng.random() < 0.7
    operands: list[Operand] = [Compact(rng.getrandbits(32), rng.getrandbits(1)), ZERO, ZERO]
    given = _instruction(Op.LD, 0, operands, pred=TRUE, dst=rng.choice(POOL))
    return _acts(rng, given | {"loaded": {"valid": loaded, "word": rng.getrandbits(32)}})
