"""`AffineUnit`: attempts and their outcomes, a set for each scheduler (docs/contract/affine.md, *Attempts*)."""

from collections.abc import Callable, Container, Mapping
from typing import NamedTuple

from warploom.arch.compact import ATTEMPT_CYCLES, coming_cycles
from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.arch.modifiers import Combine
from warploom.golden_model.affine.register_file import AffineRegisterFile
from warploom.golden_model.affine.rules import COMPARISONS, UNIFORM_OPS, Answer, Operation, Slots, execute, may_execute
from warploom.golden_model.compact import Compact
from warploom.golden_model.inputs import Attempts
from warploom.golden_model.lane import decode_modifiers
from warploom.golden_model.named import named
from warploom.golden_model.records import SOURCES, AttemptFields, IssueFields
from warploom.golden_model.words import ALL_LANES

Answers = Callable[[int, int, int, int, int], tuple[int, int]]
"""The uniform unit: from the fields of port `uniform_s` (op, modifiers, and the operands a, b and c, words of 32 bits)
to (value, whether the comparison or property holds)."""

COMBINE: dict[int, Callable[[int, int], int]] = {
    Combine.AND: int.__and__, Combine.OR: int.__or__, Combine.XOR: int.__xor__,
}


class _Coming(NamedTuple):
    """The result of an attempt, `None` if it is refused; the first cycle of an attempt that may use it, and the cycle
    of the outcome."""

    value: Compact | None
    ready: int
    done: int


class AffineUnit:
    """Takes an attempt of each set in a cycle and gives its outcome `ATTEMPT_CYCLES` later; an accepted result is
    written at the end of that cycle, and a refused attempt squashes those of its warp that came after it. `registers`
    is the number of a thread's registers.

    After `settle`, `outcomes` and `requests` are by set the fields of the ports `outcome_s` and `uniform_s`, None if
    not valid.
    """

    def __init__(self, config: SmConfig, registers: int, uniform_unit: Answers) -> None:
        self.registers = AffineRegisterFile(config, registers)
        self.cycle = 0
        self._uniform_unit = uniform_unit
        self._idle: list[Mapping[str, int] | None] = [None] * config.schedulers
        self._due: dict[int, list[tuple[AttemptFields, Answer | None]]] = {}  # attempts by the cycle of their outcome
        self._coming: dict[tuple[int, int], _Coming] = {}  # by warp and register, results without outcome
        self._requests: dict[int, list[Mapping[str, int] | None]] = {}  # by the cycle in which they show
        self._served: set[int] = set()  # sets whose instruction has issued into the datapath in this cycle
        self._has_pairs = config.has_pairs
        self.settle()

    def settle(self) -> None:
        """Wires of the cycle, which follow from registers alone."""
        self.outcomes = self.requests = self._idle
        if not (self._due or self._requests):
            return
        if due := self._due.get(self.cycle):
            self.outcomes = list(self._idle)
            for fields, answer in due:
                self.outcomes[self._set(fields)] = _outcome(fields, answer)
        self.requests = self._requests.get(self.cycle, self._idle)

    def compact(self, fields: IssueFields) -> tuple[Compact | None, ...]:
        """The values of the three slots of an instruction that issues into the datapath, None if a slot is not compact
        or reads no register."""
        reads, read = fields["reads"], self.registers.of_warp(fields["warp"]).get
        return (read(fields["src0"]) if reads & 1 else None, read(fields["src1"]) if reads & 2 else None,
                read(fields["src2"]) if reads & 4 else None)

    def read(self, warp: int, register: int) -> Compact | None:
        """The value of a register for an attempt of this cycle; `None` if it is generic, or its attempt is refused."""
        coming = self._coming.get((warp, register))
        if coming is None:
            return self.registers.read(warp, register)
        assert self.cycle >= coming.ready, "a result is used before it comes"
        return coming.value

    def issued(self, fields: IssueFields) -> None:
        """The end of a cycle, before `clock`: an instruction has issued into the datapath."""
        if not self._has_pairs or any(value is not None for value in self.compact(fields)):
            self._served.add(self._set(fields))
        if fields["writes"]:
            self.registers.make_generic(fields["warp"], fields["dst"])

    def clock(self, attempts: Attempts) -> None:
        """The end of a cycle with these attempts, by set; a set serves one instruction a cycle, and with
        pairs another one without compact slots."""
        refused: Container[int] = ()
        if self._due and (due := self._due.pop(self.cycle, None)):
            refused = {warp for fields, answer in due if (warp := self._end(fields, answer)) is not None}
        if self._requests:
            self._requests.pop(self.cycle, None)
        for number, attempt in enumerate(attempts):
            if attempt is not None:
                assert self._set(attempt) == number, "an attempt of another set's warp"
                assert number not in self._served, "two instructions for a set in one cycle"
                if attempt["warp"] not in refused:
                    self._begin(attempt)
        self._served.clear()
        self.cycle += 1

    def _begin(self, attempt: AttemptFields) -> None:
        answer, done = self._attempt(attempt), self.cycle + ATTEMPT_CYCLES
        self._due.setdefault(done, []).append((attempt, answer))
        if attempt["writes"]:
            ready = self.cycle + coming_cycles(attempt["op"])
            result = None if answer is None else answer.result
            self._coming[attempt["warp"], attempt["dst"]] = named(_Coming, (result, ready, done))

    def _end(self, fields: AttemptFields, answer: Answer | None) -> int | None:
        """The end of the cycle of an attempt's outcome. Returns the warp if it is refused."""
        warp, key = fields["warp"], (fields["warp"], fields["dst"])
        if answer is None:
            self._squash(warp)
            return warp
        if answer.result is not None and fields["writes"]:
            self.registers.write(*key, answer.result)
            if self._coming[key].done == self.cycle:
                del self._coming[key]
        return None

    def _squash(self, warp: int) -> None:
        """Forget all attempts of a warp."""
        for cycle, attempts in list(self._due.items()):
            left = [(fields, answer) for fields, answer in attempts if fields["warp"] != warp]
            if left:
                self._due[cycle] = left
            else:
                del self._due[cycle]
        self._coming = {key: coming for key, coming in self._coming.items() if key[0] != warp}

    def next_event(self) -> int | None:
        """The next cycle in which a port is valid."""
        return min((*self._due, *self._requests), default=None)

    def advance(self, cycles: int) -> None:
        """Let cycles pass in which no port is valid."""
        self.cycle += cycles

    def _set(self, fields: IssueFields) -> int:
        return fields["warp"] % len(self._idle)

    def _attempt(self, fields: AttemptFields) -> Answer | None:
        slots = self._slots(fields)
        if slots is None:
            return None
        op, modifiers = fields["op"], decode_modifiers(fields["op"], fields["modifiers"])
        if op not in UNIFORM_OPS:
            operation = named(Operation, (op, modifiers, bool(fields["writes_predicate"])))
            return execute(operation, slots, _common(fields))
        a, b, c = slots
        if not may_execute(op, modifiers, slots):
            return None
        shown = self._requests.setdefault(self.cycle + 1, list(self._idle))
        asked = {"op": op, "modifiers": fields["modifiers"], "a": a.base, "b": b.base, "c": c.base}
        shown[self._set(fields)] = asked
        value, holds = self._uniform_unit(*asked.values())
        return named(Answer, (None if op in COMPARISONS else named(Compact, (value, 0)), holds))

    def _slots(self, fields: AttemptFields) -> Slots | None:
        """All slots, registers and constants, None if one is generic."""
        slots = []
        for slot, source in enumerate(SOURCES):
            if fields["reads"] >> slot & 1:
                value = self.read(fields["warp"], fields[source])
                if value is None:
                    return None
                slots.append(value)
            else:
                slots.append(_constant(fields, slot))
        a, b, c = slots
        return a, b, c


def _constant(fields: AttemptFields, slot: int) -> Compact:
    """A slot that reads no register."""
    if fields["op"] == Op.S2R and slot == 0:
        return named(Compact, (fields["imm"], fields["step"]))
    return named(Compact, (fields["imm"] if slot == fields["imm_slot"] else 0, 0))


def _common(fields: AttemptFields) -> int | None:
    """The predicate operand, if it is the same in all executing lanes."""
    pred = fields["pred"] & fields["lanes"]
    return 0 if not pred else 1 if pred == fields["lanes"] else None


def _outcome(fields: AttemptFields, answer: Answer | None) -> dict[str, int]:
    if answer is None:
        return {"warp": fields["warp"], "accepted": 0, "pred": 0}
    pred = ALL_LANES if answer.holds else 0
    if fields["op"] in (Op.ISETP, Op.FSETP):
        combine = decode_modifiers(fields["op"], fields["modifiers"]).combine
        pred = COMBINE[combine](pred, fields["pred"])
    return {"warp": fields["warp"], "accepted": 1, "pred": pred & fields["lanes"]}
