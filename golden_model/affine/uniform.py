"""`UniformUnit`: the unit outside that executes some attempts (docs/contract/affine.md, *Attempts*)."""

from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from warploom.arch.config import LANES
from warploom.arch.encoding import HEADER_BITS, decode, encode
from warploom.arch.errors import ExecutionError
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Combine
from warploom.golden_model.functional.load_store import LoadStore
from warploom.golden_model.functional.memory import Memory
from warploom.golden_model.functional.operations import Operands, Outcome, evaluate
from warploom.golden_model.functional.resident import Group, ResidentWarps
from warploom.golden_model.trace import Traced


class UniformUnit:
    """Floating point, and loads from the constant memory and the parameters of a launch.

    It is called with the fields of the port `uniform_s`: op, encoded modifiers, and three words of 32 bits. It returns
    a word, and whether the comparison or property holds.
    """

    def __init__(self, trace: Traced) -> None:
        self._trace = trace

    def __call__(self, op: int, modifiers: int, a: int, b: int, c: int) -> tuple[int, int]:
        a_word, b_word, c_word = (np.full((1, LANES), word, np.uint32) for word in (a, b, c))
        operands = Operands(a_word, b_word, c_word)
        instruction = _uncombined(op, modifiers)
        outcome = self._load(instruction, operands) if op == Op.LD else evaluate(instruction, operands)
        return (0 if outcome.result is None else int(outcome.result[0, 0]),
                0 if outcome.pred is None else int(outcome.pred[0, 0]))

    def _load(self, instruction: Instruction, operands: Operands) -> Outcome:
        """The word, or 0 if the address is illegal, because it comes from a register that the warp has not written."""
        unit, group = self._memory
        at_offset = replace(instruction, imm=int(operands.c[0, 0]))
        try:
            outcome, _ = unit.prepare(0, at_offset)(group, None, [operands.a, operands.b, operands.c])
        except ExecutionError:
            return Outcome()
        return outcome

    @cached_property
    def _memory(self) -> tuple[LoadStore, Group]:
        """Memory at the start of the launch, and a group of one warp that loads."""
        program, launch = self._trace.program, self._trace.launch
        state = ResidentWarps(program, launch, 0, 1)
        return LoadStore(program, launch, Memory(program, launch, 1)), Group(state, np.array([0]))


@lru_cache
def _uncombined(op: int, modifiers: int) -> Instruction:
    """The instruction of an operation with its encoded modifiers; a comparison without the predicate operand."""
    header = encode(Instruction(op=Op(op))) & (1 << HEADER_BITS) - 1
    return replace(decode(header | modifiers << HEADER_BITS), combine=Combine.AND)
