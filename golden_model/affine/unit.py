"""`AffineUnit`: attempts and their outcomes, a set for each scheduler (docs/contract/affine.md, *Attempts*)."""

from collections.abc import Callable, Mapping, Sequence

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import ATTEMPT_CYCLES
from warploom.arch.isa import Op
from warploom.arch.modifiers import Combine
from warploom.golden_model.affine.register_file import AffineRegisterFile
from warploom.golden_model.affine.rules import COMPARISONS, UNIFORM_OPS, Answer, Operation, Slots, execute, may_execute
from warploom.golden_model.compact import Compact
from warploom.golden_model.lane import decode_modifiers
from warploom.golden_model.words import ALL_LANES

Fields = Mapping[str, int]

Answers = Callable[[int, int, int, int, int], tuple[int, int]]
"""The uniform unit: from the fields of port `uniform_s` (op, modifiers, and the operands a, b and c, words of 32 bits)
to (value, whether the comparison or property holds)."""

COMBINE: dict[int, Callable[[int, int], int]] = {
    Combine.AND: int.__and__, Combine.OR: int.__or__, Combine.XOR: int.__xor__,
}


class AffineUnit:
    """Takes an attempt of each set in a cycle and gives its outcome `ATTEMPT_CYCLES` later; an accepted result is
    written at the end of that cycle. `registers` is the number of a thread's registers.

    After `settle`, `outcomes` and `requests` are by set the fields of the ports `outcome_s` and `uniform_s`, None if
    not valid.
    """

    def __init__(self, config: SmConfig, registers: int, uniform_unit: Answers) -> None:
        self.registers = AffineRegisterFile(config, registers)
        self.cycle = 0
        self._uniform_unit = uniform_unit
        self._idle: list[Fields | None] = [None] * config.schedulers
        self._due: dict[int, list[tuple[Fields, Answer | None]]] = {}  # attempts by the cycle of their outcome
        self._requests: dict[int, list[Fields | None]] = {}  # by the cycle in which they show
        self._served: set[int] = set()  # sets whose instruction has issued into the datapath in this cycle
        self.settle()

    def settle(self) -> None:
        """Wires of the cycle, which follow from registers alone."""
        self.outcomes = self._idle
        if due := self._due.get(self.cycle):
            self.outcomes = list(self._idle)
            for fields, answer in due:
                self.outcomes[self._set(fields)] = _outcome(fields, answer)
        self.requests = self._requests.get(self.cycle, self._idle)

    def compact(self, fields: Fields) -> tuple[Compact | None, ...]:
        """The values of the three slots of an instruction that issues into the datapath, None if a slot is not compact
        or reads no register."""
        warp, reads = fields["warp"], fields["reads"]
        return tuple(
            self.registers.read(warp, fields[f"src{slot}"]) if reads >> slot & 1 else None for slot in range(3)
        )

    def issued(self, fields: Fields) -> None:
        """The end of a cycle, before `clock`: an instruction has issued into the datapath."""
        self._served.add(self._set(fields))
        if fields["writes"]:
            self.registers.make_generic(fields["warp"], fields["dst"])

    def clock(self, attempts: Sequence[Fields | None]) -> None:
        """The end of a cycle with these attempts, by set; a set serves one instruction a cycle."""
        for fields, answer in self._due.pop(self.cycle, ()):
            if answer is not None and answer.result is not None and fields["writes"]:
                self.registers.write(fields["warp"], fields["dst"], answer.result)
        self._requests.pop(self.cycle, None)
        for number, attempt in enumerate(attempts):
            if attempt is not None:
                assert self._set(attempt) == number, "an attempt of another set's warp"
                assert number not in self._served, "two instructions for a set in one cycle"
                self._due.setdefault(self.cycle + ATTEMPT_CYCLES, []).append((attempt, self._attempt(attempt)))
        self._served.clear()
        self.cycle += 1

    def next_event(self) -> int | None:
        """The next cycle in which a port is valid."""
        return min((*self._due, *self._requests), default=None)

    def advance(self, cycles: int) -> None:
        """Let cycles pass in which no port is valid."""
        self.cycle += cycles

    def _set(self, fields: Fields) -> int:
        return fields["warp"] % len(self._idle)

    def _attempt(self, fields: Fields) -> Answer | None:
        slots = self._slots(fields)
        if slots is None or (fields["writes"] and not fields["full"]):
            return None
        op, modifiers = fields["op"], decode_modifiers(fields["op"], fields["modifiers"])
        if op not in UNIFORM_OPS:
            return execute(Operation(op, modifiers, bool(fields["writes_predicate"])), slots, _common(fields))
        a, b, c = slots
        if not may_execute(op, modifiers, (a.tag, b.tag, c.tag)):
            return None
        shown = self._requests.setdefault(self.cycle + 1, list(self._idle))
        asked = {"op": op, "modifiers": fields["modifiers"], "a": a.base, "b": b.base, "c": c.base}
        shown[self._set(fields)] = asked
        value, holds = self._uniform_unit(*asked.values())
        return Answer(None if op in COMPARISONS else Compact(value), holds)

    def _slots(self, fields: Fields) -> Slots | None:
        """All slots, registers and constants, None if one is generic."""
        slots = []
        for slot, value in enumerate(self.compact(fields)):
            if fields["reads"] >> slot & 1:
                if value is None:
                    return None
                slots.append(value)
            else:
                slots.append(_constant(fields, slot))
        a, b, c = slots
        return a, b, c


def _constant(fields: Fields, slot: int) -> Compact:
    """A slot that reads no register."""
    if fields["op"] == Op.S2R and slot == 0:
        return Compact(fields["imm"], fields["step"])
    return Compact(fields["imm"] if slot == fields["imm_slot"] else 0)


def _common(fields: Fields) -> int | None:
    """The predicate operand, if it is the same in all executing lanes."""
    pred = fields["pred"] & fields["lanes"]
    return 0 if not pred else 1 if pred == fields["lanes"] else None


def _outcome(fields: Fields, answer: Answer | None) -> dict[str, int]:
    if answer is None:
        return {"warp": fields["warp"], "accepted": 0, "pred": 0}
    pred = ALL_LANES if answer.holds else 0
    if fields["op"] in (Op.ISETP, Op.FSETP):
        combine = decode_modifiers(fields["op"], fields["modifiers"]).combine
        pred = COMBINE[combine](pred, fields["pred"])
    return {"warp": fields["warp"], "accepted": 1, "pred": pred & fields["lanes"]}
