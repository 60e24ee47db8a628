"""What each dynamic instruction of a trace reads in program order, and a simulation that compares it with what the
model reads when the instruction issues, whatever the order.

The model's own checker follows registers in the order of issue. So it sees a wrong order only in integer results.
"""

from collections.abc import Mapping

import numpy as np
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Instruction
from warploom.golden_model.check import Checker, Mismatch
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics
from warploom.golden_model.trace import NONE, Trace, WarpTrace

Key = tuple[int, int]
"""The rows of a dynamic instruction's result and addresses; those with neither are not compared here."""

Operands = dict[int, tuple[np.ndarray, np.ndarray]]
"""By slot: the words of a register, and whether each lane has been written."""


def operands(trace: Trace) -> dict[Key, Operands]:
    """The register operands of all instructions with a register result or addresses."""
    found: dict[Key, Operands] = {}
    for warp in trace.warps:
        _follow(trace, warp, found)
    return found


def _follow(trace: Trace, warp: WarpTrace, found: dict[Key, Operands]) -> None:
    words, written = np.zeros((RZ, 32), np.uint32), np.zeros((RZ, 32), bool)
    columns = (warp.pc, warp.lanes, warp.result, warp.address)
    for pc, mask, result, address in zip(*(column.tolist() for column in columns), strict=True):
        instruction = trace.program.instructions[pc]
        if result != NONE or address != NONE:
            found[result, address] = {slot: (words[register].copy(), written[register].copy())
                                      for slot, register in _slots(instruction)}
        if instruction.dst != RZ and result != NONE:
            lanes = np.array([mask >> lane & 1 for lane in range(32)], bool)
            words[instruction.dst, lanes] = trace.results[result][lanes]
            written[instruction.dst, lanes] = True


def _slots(instruction: Instruction) -> list[tuple[int, int]]:
    """The slots that read a register, with its number."""
    return [(slot, register) for slot, register in enumerate(instruction.src)
            if register != RZ and slot != instruction.imm_slot]


def simulate_ordered(config: SmConfig, trace: Trace) -> Statistics:
    """Simulate, and compare every operand with that of program order. Raises `Mismatch`."""
    expected, issued = operands(trace), Checker.issued
    code = trace.program.instructions

    def compare(checker: Checker, flight: Flight, fields: Mapping[str, int]) -> None:
        if flight.static.op is code[flight.warp.walk.pc].op:  # not a copy
            for slot, operand in expected.get((flight.result, flight.address), {}).items():
                actual, _ = checker._operand(flight.warp, fields, slot)
                _compare(flight, actual, operand, f"operand {slot} of {flight.static.op.name}")
        issued(checker, flight, fields)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checker, "issued", compare)
        return simulate(config, trace, check=True, max_cycles=1_000_000).statistics


def _compare(flight: Flight, word: int, operand: tuple[np.ndarray, np.ndarray], what: str) -> None:
    actual = np.frombuffer(word.to_bytes(128, "little"), np.uint32)
    words, written = operand
    lanes = written & np.array([flight.lanes >> lane & 1 for lane in range(32)], bool)
    if (actual != words)[lanes].any():
        raise Mismatch(f"{what} at {flight.warp.walk.pc} is not that of program order")
