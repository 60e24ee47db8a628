"""Replays all memory accesses of the hardware, with its own operand bits, in the order of the trace."""

from collections.abc import Iterable

import numpy as np

from warploom.golden_model.functional.load_store import LoadStore
from warploom.golden_model.functional.memory import Memory
from warploom.golden_model.functional.resident import Group, ResidentWarps
from warploom.golden_model.trace import Trace
from warploom.golden_model.words import spread
from warploom.tb.outside import Access, to_bools, to_lanes, to_word


def replay(trace: Trace, accesses: Iterable[Access]) -> tuple[Memory, str, list[str]]:
    """Apply every access to a fresh memory image. Returns the image, the printed text, and a line for each result that
    contradicts the image.

    Addresses and data are those that the hardware dispatched. Raises `ExecutionError` for an illegal address.
    """
    program, launch = trace.program, trace.launch
    memory = Memory(program, launch, launch.blocks)
    unit = LoadStore(program, launch, memory)
    state = ResidentWarps(program, launch, 0, launch.blocks)
    pcs = {id(instruction): pc for pc, instruction in enumerate(program.instructions)}
    prepared, wrong = {}, []
    for access in sorted(accesses, key=lambda access: access.address):
        flight = access.flight
        pc = pcs[id(flight.static.instruction)]
        if pc not in prepared:
            prepared[pc] = unit.prepare(pc, flight.static.instruction)
        group, words = Group(state, np.array([flight.warp.number])), [to_lanes(word) for word in access.words]
        outcome, _ = prepared[pc](group, to_bools(flight.lanes), words)
        if access.answer is not None:
            assert outcome.result is not None
            difference = (to_word(outcome.result) ^ access.answer) & spread(flight.lanes)
            if difference:
                lane = (difference & -difference).bit_length() - 1 >> 5
                wrong.append(f"{program.at(pc)}: warp {flight.warp.number}, lane {lane}: the "
                             "memory that the hardware wrote does not hold what it was answered")
    return memory, unit.console.text, wrong
