"""Random groups of operations for an SAU, in cycles in which the issue unit could issue them."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from warploom.arch.encoding import encode_modifiers
from warploom.arch.fg_simt.sizes import DIVIDE_INTERVAL, DIVISIONS, LATENCY, PREDICATES, REGISTERS
from warploom.arch.isa import Op
from warploom.rtl.fg_simt.simple import SIMPLE
from warploom.tb.bench import Stimulus
from warploom.tb.codec import join
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES
from warploom.tb.fg_simt.test_simple import modifiers, words
from warploom.tb.float import test_convert, test_divide, test_fused
from warploom.tb.float.cases import Family
from warploom.tb.float.words import SPECIAL_INTEGERS, integers

DIVISION_CYCLES = (GROUPS - 1) * DIVIDE_INTERVAL + LATENCY[Op.FDIV]
"""From the issue of a division to that of the next operation."""

FAMILIES = (*test_fused.FAMILIES, *test_convert.FAMILIES, *test_divide.FAMILIES,
            *(Family(op, {"high": (False, True), "signed": (False, True)}, 3, SPECIAL_INTEGERS, integers)
              for op in (Op.IMUL, Op.IMAD)))
"""Operands of the operations that the simple unit does not have."""

WITHOUT_WORD = (Op.ISETP, Op.FSETP, Op.PLOP3)
WITH_PREDICATE = (*WITHOUT_WORD, Op.MOV, Op.IADD, Op.ISUB, Op.IMAD)


class Traffic:
    """Operations of one SAU."""

    def __init__(self, rng: random.Random, operations: Sequence[Op]) -> None:
        self._rng, self._operations = rng, operations
        self._numbers = np.random.default_rng(rng.getrandbits(32))
        self._free, self._claimed = 0, set[int]()
        self._next: list[Op] = []
        self._entering: dict[int, Stimulus] = {}

    def stimuli(self, cycles: int) -> Iterator[Stimulus]:
        """A group, or none, in each cycle."""
        chance = 1.0
        for cycle in range(cycles):
            if cycle % 200 == 0:
                chance = self._rng.choice((0.2, 0.9, 1))
            if cycle >= self._free and self._rng.random() < chance:
                self._issue(cycle)
            yield self._entering.pop(cycle, {"enter__payload": self._rng.getrandbits(800)})

    def _issue(self, cycle: int) -> None:
        """The next operation, if its write port is free."""
        if not self._next:
            self._next = self._shuffled()
        op = self._next[-1]
        if op in DIVISIONS:
            self._free, interval = cycle + DIVISION_CYCLES, DIVIDE_INTERVAL
        else:
            claims = {cycle + 2 + LATENCY[op] + group for group in range(GROUPS)}
            if claims & self._claimed:
                return
            self._claimed |= claims
            self._free, interval = cycle + GROUPS, 1
        for group, stimulus in enumerate(self._groups(self._next.pop())):
            self._entering[cycle + 1 + interval * group] = stimulus

    def _shuffled(self) -> list[Op]:
        """All operations in random order: some often, and divisions sometimes one behind the other."""
        rng, divisions = self._rng, [op for op in self._operations if op in DIVISIONS]
        parts = [[op] for op in self._operations if op not in DIVISIONS for _ in range(1 if op in SIMPLE else 4)]
        parts += [divisions] if rng.random() < 0.5 else [[op] for op in divisions]
        rng.shuffle(divisions)
        rng.shuffle(parts)
        return [op for part in parts for op in part]

    def _groups(self, op: Op) -> list[Stimulus]:
        """The groups of an operation; some are collects, which write nothing."""
        rng = self._rng
        encoded, columns = self._operands(op)
        collect = op is Op.MOV and rng.random() < 0.5
        shared: dict[str, Any] = {
            "op": op, "modifiers": encoded,
            "destination": _named(rng, REGISTERS, op not in WITHOUT_WORD and not collect),
            "predicate": _named(rng, PREDICATES, op in WITH_PREDICATE and not collect)}
        return [{"enter__valid": 1, "enter__payload": {
            **shared, "group": group, "pred": rng.getrandbits(LANES),
            "execute": rng.choice((0, 0xFF, 0xFF, rng.getrandbits(LANES))),
            **{slot: join(column[LANES * group : LANES * (group + 1)], 32)
               for slot, column in zip("abc", columns, strict=True)}}} for group in range(GROUPS)]

    def _operands(self, op: Op) -> tuple[int, list[list[int]]]:
        """Modifiers, encoded, and the operand words of 32 threads."""
        rng, count = self._rng, GROUPS * LANES
        if op in SIMPLE:
            a, b, c = ([word for _ in range(GROUPS) for word in words(rng, op)] for _ in range(3))
            return modifiers(rng, op), [a, [rng.choice((x, y, y, y)) for x, y in zip(a, b, strict=True)], c]
        family = rng.choice([family for family in FAMILIES if family.op is op])
        instruction = rng.choice(family.instructions())
        with np.errstate(all="ignore"):
            generated = family.generator(self._numbers, count)
        special = self._numbers.choice(family.special, (3, count))
        chosen = np.where(self._numbers.random((3, count)) < 0.2, special, np.array(generated))
        return encode_modifiers(instruction), chosen.tolist()


def _named(rng: random.Random, count: int, writes: bool) -> dict[str, int]:
    """A register or predicate, if there is a result for it; sometimes none."""
    return {"number": rng.randrange(count), "valid": int(writes and rng.random() < 0.9)}
