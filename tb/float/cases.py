"""Cases for the benches of floating-point units: instructions with modifiers, operand words and the results of the
golden model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from warploom.arch.isa import Instruction, Op
from warploom.golden_model.functional.operations import Operands, prepare
from warploom.tb.float import words
from warploom.tb.float.words import Words


@dataclass(frozen=True)
class Cases:
    """Executions of one instruction. `operands` are a, b, c; `pred` is the predicate operand, as bools."""

    instruction: Instruction
    operands: tuple[Words, Words, Words]
    pred: np.ndarray

    def __len__(self) -> int:
        return len(self.pred)

    def results(self) -> tuple[Words, Words]:
        """Words and predicates of the golden model; zero where the operation has no such result."""
        with np.errstate(all="ignore"):
            outcome = prepare(self.instruction)(Operands(*self.operands, pred=self.pred))
        word, verdict = (np.zeros(len(self), np.uint32) if part is None else np.asarray(part).astype(np.uint32)
                         for part in (outcome.result, outcome.pred))
        return word, verdict


FLAGS = (False, True)
"""Values of a modifier that is set or not."""

Axes = dict[str, Sequence[Any]]

Generator = Callable[[np.random.Generator, int], list[Words]]
"""Makes three operands for a number of cases."""


@dataclass(frozen=True)
class Family:
    """Instructions and their operands: the values of each modifier, the number of operands that are read, the special
    values of which tuples are tried, and the generator of others."""

    op: Op
    axes: Axes
    operands: int
    special: Words
    generator: Generator

    def instructions(self) -> list[Instruction]:
        """Every combination of the modifiers that the operation permits."""
        return [Instruction(op=self.op, **dict(zip(self.axes, values, strict=True)))
                for values in product(*self.axes.values())]

    def cases(self, rng: np.random.Generator, count: int) -> Iterator[Cases]:
        """`count` cases or a few more, at most half of them tuples of special values: all of these with each
        instruction, or all with some instruction, or some."""
        made, tuples = self.instructions(), words.tuples(self.special, self.operands)
        order = rng.permutation(len(tuples[0]))
        share = min(len(order), count // (2 * len(made)))
        for k, instruction in enumerate(made):
            chosen = np.take(order, range(k * share, (k + 1) * share), mode="wrap")
            rest = -(-count // len(made)) - len(chosen)
            with np.errstate(all="ignore"):
                generated = self.generator(rng, rest)
            given = [np.concatenate([column[chosen], other])
                     for column, other in zip([*tuples, *[tuples[0]] * 2], generated, strict=False)]
            yield Cases(instruction, (given[0], given[1], given[2]), rng.random(len(given[0])) < 0.5)
