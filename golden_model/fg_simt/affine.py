"""`AffineRegisters`: compact registers and uniform predicates of the current warp, and what is computed from them."""

from typing import NamedTuple

from warploom.arch.compact import LINEAR_OPS
from warploom.arch.encoding import encode_modifiers
from warploom.arch.fg_simt.sizes import AFFINE_CYCLES, PREDICATES, REGISTERS, UNIFORM_CYCLES
from warploom.arch.isa import PT, RZ, Instruction
from warploom.arch.mechanisms import Affine
from warploom.arch.modifiers import Combine
from warploom.golden_model.affine.rules import COMPARISONS, UNIFORM_OPS, Operation, execute, is_eligible
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.micro import Operand, Predicate, Register
from warploom.golden_model.lane import decode_modifiers

Slots = tuple[Compact | None, ...]
"""Operands as base and stride, None if they are generic."""


class Known(NamedTuple):
    """Results that are the same in all lanes or linear in the lane: a register and a predicate, None if not written."""

    word: Compact | None
    holds: bool | None


class AffineRegisters:
    """The ASRF, and the tags of predicates: None is generic."""

    observed = ("uniform_registers", "affine_registers", "uniform_predicates", "predicate_values")

    def __init__(self, affine: Affine) -> None:
        self.affine = affine
        self._registers: list[Compact | None] = [None] * REGISTERS
        self._predicates: list[bool | None] = [None] * PREDICATES

    def reset(self) -> None:
        """A new warp: everything is generic."""
        self._registers = [None] * REGISTERS
        self._predicates = [None] * PREDICATES

    def register(self, number: int) -> Compact | None:
        """A compact register, None if it is generic."""
        return None if number == RZ else self._registers[number]

    def predicate(self, number: int) -> bool | None:
        """A uniform predicate, None if it is generic."""
        return None if number == PT else self._predicates[number]

    def write(self, i: Instruction, known: Known) -> None:
        """The results of an instruction; generic what is not known."""
        if i.dst != RZ:
            self._registers[i.dst] = known.word
        if i.pdst != PT:
            self._predicates[i.pdst] = known.holds

    def expand(self, i: Instruction) -> Known:
        """The compact destinations of an instruction, which become generic."""
        known = Known(self.register(i.dst), self.predicate(i.pdst))
        self.write(i, Known(None, None))
        return known

    def resolve(self, operand: Operand) -> Operand:
        """An operand, with a compact register or uniform predicate as a constant."""
        if isinstance(operand, Register):
            return self._registers[operand.number] or operand
        return self.resolved(operand) if isinstance(operand, Predicate) else operand

    def resolved(self, predicate: Predicate) -> Predicate:
        """A predicate, as a constant if it is uniform."""
        held = self.predicate(predicate.number)
        return predicate if held is None else Predicate(PT, held == predicate.inverted)

    def slot(self, operand: Operand) -> Compact | None:
        """An operand as base and stride, None if it is generic."""
        resolved = self.resolve(operand)
        return resolved if isinstance(resolved, Compact) else None

    def cycles(self, i: Instruction, slots: Slots, pred: Predicate) -> int:
        """How long the attempt of an instruction takes; 1 for one that is not attempted."""
        follows_rules = i.op not in LINEAR_OPS or i.pdst != PT
        if not (follows_rules and self._is_attempted(i, slots, pred)):
            return 1
        return AFFINE_CYCLES if any(slot is not None and slot.stride for slot in slots) else UNIFORM_CYCLES

    def _is_attempted(self, i: Instruction, slots: Slots, pred: Predicate) -> bool:
        eligible = is_eligible(i, self.affine) and i.op not in UNIFORM_OPS
        return eligible and pred.is_constant and all(slot is not None for slot in slots)

    def attempt(self, i: Instruction, slots: Slots, pred: Predicate) -> Known | None:
        """The results of an instruction, None if they are not compact. `pred` is its predicate operand, resolved."""
        a, b, c = slots
        if not self._is_attempted(i, slots, pred) or a is None or b is None or c is None:
            return None
        modifiers = decode_modifiers(i.op, encode_modifiers(i))
        answer = execute(Operation(i.op, modifiers, i.pdst != PT), (a, b, c), int(pred.holds))
        if answer is None:
            return None
        holds = bool(answer.holds)
        if i.op in COMPARISONS:
            holds = _combined(i, holds, pred.holds)
        return Known(answer.result, holds if i.pdst != PT else None)

    def logic(self, i: Instruction, operands: tuple[Operand, ...]) -> Known | None:
        """The result of PLOP3 on predicates that are all uniform."""
        if not self.affine.has_branches:
            return None
        row = 0
        for operand in operands:
            if not isinstance(operand, Predicate) or not operand.is_constant:
                return None
            row = row << 1 | int(operand.holds)
        return Known(None, bool(i.lut >> row & 1))

    def observe(self) -> list[int]:
        """See `warploom.golden_model.observation.Part`."""
        bits = [0, 0, 0, 0]
        for number, compact in enumerate(self._registers):
            if compact is not None:
                bits[1 if compact.stride else 0] |= 1 << number
        for number, held in enumerate(self._predicates):
            bits[2] |= (held is not None) << number
            bits[3] |= bool(held) << number
        return bits


def _combined(i: Instruction, test: bool, pred: bool) -> bool:
    return {Combine.AND: test and pred, Combine.OR: test or pred, Combine.XOR: test != pred}[i.combine]


